import json
import sys
import threading

import stomp

host, port, destination, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])


class Messages(stomp.ConnectionListener):
    def __init__(self):
        self.left, self.over = count, threading.Event()

    def on_message(self, frame):
        print(json.dumps({"body": frame.body, "headers": frame.headers}), flush=True)
        conn.ack(frame.headers["ack"])
        self.left -= 1
        if self.left == 0:
            self.over.set()


messages = Messages()
conn = stomp.Connection12([(host, port)])
conn.set_listener("", messages)
conn.connect(wait=True)
conn.subscribe(destination, id="1", ack="client-individual")
if not messages.over.wait(20):
    sys.exit("%d messages did not come" % messages.left)
conn.disconnect()
