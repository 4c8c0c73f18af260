"""Main loop of the interpreter: waits for a job, runs it and reports its result; repeatedly in a session."""

import json
import os
import sys
import time

from . import link, missing, run as runs, zones
from . import loop  # noqa: F401  the event loop is in place before any code asks for one


_OFTEN = (
    "collections",
    "contextlib",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "itertools",
    "math",
    "random",
    "re",
    "statistics",
    "string",
    "textwrap",
    "typing",
    "uuid",
)
_session = None


def run():
    global _session
    sys.path[:] = [path for path in sys.path if path not in ("/site", "")]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    missing.install()
    zones.install()
    os.chdir("/work")
    sys.path.insert(0, "/work")
    _session = runs.Session()
    link.send("boot")
    if link.receive()[0] == "make":
        for name in _OFTEN:
            __import__(name)
        link.send("park")
        # The memory is copied during this call, which does not return: `serve` is called again, in this interpreter and
        # in each copy. It must be a call that keeps the interpreter's lock.
        time.time()
    serve()


def serve():
    """Runs jobs, in an interpreter that may be a copy. Resets everything that must differ between copies."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    while True:
        link.send("next")
        _, text = link.receive()
        done = _session.run(json.loads(text))
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        link.send("done", **done)
