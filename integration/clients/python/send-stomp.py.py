import sys
import threading

import stomp


class Outcome(stomp.ConnectionListener):
    def __init__(self):
        self.over, self.error = threading.Event(), None

    def on_error(self, frame):
        self.error = frame.headers.get("message")
        self.over.set()

    def on_receipt(self, frame):
        self.over.set()


outcome = Outcome()
conn = stomp.Connection12([(sys.argv[1], int(sys.argv[2]))])
conn.set_listener("", outcome)
conn.connect(wait=True)

# EXAMPLE

conn.disconnect(receipt="all")
if not outcome.over.wait(20):
    sys.exit("nothing was confirmed")
if outcome.error:
    sys.exit(outcome.error)
