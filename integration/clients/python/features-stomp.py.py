import os
import queue
import threading
import time
import uuid

import stomp

web = os.environ.get("TRANSPORT") == "websocket"


class Session(stomp.ConnectionListener):
    """A connection whose messages wait in a queue."""

    def __init__(self, version="1.2", beat=0, suffix="", headers=None, binary=False):
        self.messages, self.receipts, self.lost, self.why = queue.Queue(), {}, threading.Event(), "closed"
        self.version = None
        at = [(os.environ["HOST"], int(os.environ[("WEBSOCKET" if web else "STOMP") + suffix]))]
        options = {"auto_decode": not binary}
        if version != "1.0":
            options["heartbeats"] = (beat, beat)
        if web:
            self.conn = stomp.WSStompConnection(at, ws_path="/ws", binary_mode=binary, **options)
        else:
            kind = {"1.0": stomp.Connection10, "1.1": stomp.Connection11, "1.2": stomp.Connection12}[version]
            self.conn = kind(at, **options)
        self.asked, self.headers = version, headers or {}
        self.conn.set_listener("", self)
        self.connect()

    def connect(self):
        self.lost.clear()
        self.conn.connect(wait=True, headers=dict(self.headers))

    def on_connected(self, frame):
        self.version = frame.headers.get("version")

    def on_message(self, frame):
        self.messages.put(frame)

    def on_receipt(self, frame):
        self.receipts.setdefault(frame.headers["receipt-id"], threading.Event()).set()

    def on_error(self, frame):
        self.why = frame.headers["message"]

    def on_disconnected(self):
        self.lost.set()

    def on_heartbeat_timeout(self):
        self.lost.set()

    def confirmed(self, do):
        """Calls do with a receipt and waits for that."""
        name = str(uuid.uuid4())
        got = self.receipts.setdefault(name, threading.Event())
        do(name)
        demand(got.wait(8), "no receipt came")

    def send(self, destination, body, **headers):
        self.confirmed(lambda name: self.conn.send(destination, body, headers=headers, receipt=name))

    def subscribe(self, destination, name="1", ack="auto", **headers):
        self.confirmed(lambda receipt: self.conn.subscribe(destination, id=name, ack=ack, headers={**headers, "receipt": receipt}))

    def next(self, body=None):
        try:
            frame = self.messages.get(timeout=8)
        except queue.Empty:
            raise AssertionError("no message came, instead of %r" % body) from None
        demand(body is None or frame.body == body, "received %r, not %r" % (frame.body, body))
        return frame

    def handle(self, what, frame, **headers):
        """Sends ACK or NACK."""
        do = getattr(self.conn, what)
        if self.asked == "1.1":
            do(frame.headers["message-id"], frame.headers["subscription"], **headers)
        else:
            do(frame.headers["ack" if self.asked == "1.2" else "message-id"], **headers)

    def close(self):
        self.conn.disconnect(receipt=str(uuid.uuid4()))
        demand(self.lost.wait(8), "the connection did not end")


def demand(is_so, what):
    if not is_so:
        raise AssertionError(what)


def speaks(version):
    s = Session(version)
    demand((s.version or "1.0") == version, "connected with %s" % s.version)
    s.subscribe("/queue/v" + version, ack="client")
    s.send("/queue/v" + version, "x")
    s.handle("ack", s.next("x"))
    s.close()


def send():
    s = Session()
    s.subscribe("/queue/send")
    s.send("/queue/send", "Grüße, 世界", kind="a greeting")
    demand(s.next("Grüße, 世界").headers["kind"] == "a greeting", "its header is lost")
    s.close()


def acknowledged(mode, acknowledge, left):
    s = Session()
    for body in "123":
        s.send("/queue/" + mode, body)
    s.subscribe("/queue/" + mode, ack=mode)
    frames = [s.next(body) for body in "123"]
    if acknowledge:
        s.handle("ack", frames[1])
    s.close()
    s = Session()
    s.subscribe("/queue/" + mode)
    for body in left:
        s.next(body)
    s.send("/queue/" + mode, "end")
    s.next("end")
    s.close()


def nack():
    s = Session()
    s.subscribe("/queue/nack", ack="client-individual")
    s.send("/queue/nack", "again")
    s.handle("nack", s.next("again"))
    frame = s.next("again")
    demand(frame.headers.get("redelivered") == "true", "it is not marked as redelivered")
    s.handle("ack", frame)
    s.close()


def commit():
    s = Session()
    s.send("/queue/in", "order")
    s.subscribe("/queue/in", "in", "client-individual")
    order = s.next("order")
    s.subscribe("/queue/commit", "out")
    transaction = s.conn.begin()
    s.handle("ack", order, transaction=transaction)
    s.send("/queue/commit", "inside", transaction=transaction)
    s.send("/queue/commit", "outside")
    s.next("outside")
    s.conn.commit(transaction)
    s.next("inside")
    s.close()
    s = Session()
    s.subscribe("/queue/in")
    s.send("/queue/in", "end")
    s.next("end")
    s.close()


def abort():
    s = Session()
    s.subscribe("/queue/abort")
    transaction = s.conn.begin()
    s.send("/queue/abort", "inside", transaction=transaction)
    s.conn.abort(transaction)
    s.send("/queue/abort", "outside")
    s.next("outside")
    s.close()


def receipt():
    s = Session()
    s.send("/queue/receipt", "x")
    s.close()


def beats():
    s = Session(beat=1000)
    demand(not s.lost.wait(3.5), "the connection was lost")
    s.send("/queue/beats", "x")
    s.close()


def missed():
    s = Session(beat=1000, suffix="_SILENT")
    demand(s.lost.wait(10), "the silence was not noticed")


def selector():
    s = Session()
    s.subscribe("/topic/selector", selector="n > 1 AND kind LIKE 'a%'")
    s.send("/topic/selector", "one", n="1", kind="ab")
    s.send("/topic/selector", "two", n="2", kind="ab")
    s.next("two")
    s.close()


def durable():
    def reader():
        s = Session(headers={"client-id": "reader"})
        s.subscribe("/topic/durable", "news", durable="true")
        return s

    reader().close()
    s = Session()
    s.send("/topic/durable", "while away")
    s.close()
    s = reader()
    s.next("while away")
    s.confirmed(lambda name: s.conn.unsubscribe("news", durable="true", receipt=name))
    s.send("/topic/durable", "after the end")
    s.close()
    s = reader()
    s.send("/topic/durable", "anew")
    s.next("anew")
    s.close()


def delay():
    s = Session()
    s.subscribe("/queue/delay")
    sent = time.time()
    s.send("/queue/delay", "later", AMQ_SCHEDULED_DELAY="700")
    s.send("/queue/delay", "now")
    s.next("now")
    s.next("later")
    demand(time.time() - sent >= 0.7, "it came too early")
    s.close()


def reply():
    asks, answers = Session(), Session()
    answers.subscribe("/queue/requests")
    asks.subscribe("/temp-queue/replies")
    asks.send("/queue/requests", "how much?", **{"reply-to": "/temp-queue/replies", "correlation-id": "7"})
    headers = answers.next("how much?").headers
    answers.send(headers["reply-to"], "42", **{"correlation-id": headers["correlation-id"]})
    demand(asks.next("42").headers["correlation-id"] == "7", "it answers something else")
    asks.close()
    answers.close()


def binary():
    s = Session(binary=True)
    s.subscribe("/queue/binary")
    octets = bytes([0, 1, 10, 13, 0, 255, 128, 0])
    s.send("/queue/binary", octets, **{"content-type": "application/octet-stream"})
    s.next(octets)
    s.close()


def error():
    s = Session()
    s.conn.send("/nonsense/x", "x")
    demand(s.lost.wait(8), "it was not noticed")
    demand("/nonsense/x" in s.why, "it says %r" % s.why)


def reconnect():
    s = Session(suffix="_CUT")
    s.send("/queue/reconnect", "kept")
    s.subscribe("/topic/cut")
    s.conn.send("/topic/cut", "cut-here")
    demand(s.lost.wait(8), "the loss was not noticed")
    s.connect()  # the library leaves that to the program
    s.subscribe("/queue/reconnect")
    s.next("kept")
    s.close()


attempts = {
    "1.0": lambda: speaks("1.0"),
    "1.1": lambda: speaks("1.1"),
    "1.2": lambda: speaks("1.2"),
    "send": send,
    "auto": lambda: acknowledged("auto", False, []),
    "client": lambda: acknowledged("client", True, ["3"]),
    "individual": lambda: acknowledged("client-individual", True, ["1", "3"]),
    "nack": nack, "commit": commit, "abort": abort, "receipt": receipt, "beats": beats, "missed": missed,
    "selector": selector, "durable": durable, "delay": delay, "reply": reply, "binary": binary, "error": error,
    "reconnect": reconnect,
}
lacks = {}
if web:
    lacks = {"1.0": "its WebSocket transport speaks 1.2 only", "1.1": "its WebSocket transport speaks 1.2 only"}

for name, attempt in attempts.items():
    if name in lacks:
        print("none", name, lacks[name], flush=True)
        continue
    try:
        attempt()
        print("pass", name, flush=True)
    except Exception as problem:
        print("fail", name, type(problem).__name__, str(problem).replace("\n", " "), flush=True)
os._exit(0)
