"""The loop of programs that drive a Python library: an order a line in, an answer a line out."""

import json
import os
import sys
import traceback


def serve(answer):
    """answer(order) for each line of stdin, until it ends."""
    for line in sys.stdin:
        try:
            order = json.loads(line)
            os.environ.update(AWS_ACCESS_KEY_ID=order["access"],
                              AWS_SECRET_ACCESS_KEY=order["secret"])
            told = {"done": answer(order)}
        except Exception:
            told = {"failed": traceback.format_exc()}
        print(json.dumps(told), flush=True)
