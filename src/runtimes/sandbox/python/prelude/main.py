"""The life of the interpreter: it waits for a job, runs it, says how it ended; in a session, again and again."""

import json
import os
import sys

from . import link, missing, run as runs
from . import loop  # noqa: F401  the event loop is in place before any code asks for one


def run():
    sys.path[:] = [path for path in sys.path if path not in ("/site", "")]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    missing.install()
    os.chdir("/work")
    sys.path.insert(0, "/work")
    session = runs.Session()
    while True:
        link.send("next")
        _, text = link.receive()
        done = session.run(json.loads(text))
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        link.send("done", **done)
