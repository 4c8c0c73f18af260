"""Formats exceptions for the author of the code: with the lines of the code, and nothing of the host."""

import linecache
import traceback

PREFIX = "<code"
WORK = "/work/"


def remember(name, code):
    # None as the modification time keeps the entry, although no such file exists.
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)


def describe(error):
    shown = traceback.TracebackException.from_exception(error, capture_locals=False, compact=True)
    _trim(shown, set())
    return {
        "type": type(error).__name__,
        "message": _message(error),
        "traceback": "".join(shown.format(chain=True)).rstrip("\n"),
    }


def _trim(shown, seen):
    if shown is None or id(shown) in seen:
        return
    seen.add(id(shown))
    shown.stack = traceback.StackSummary.from_list(
        [_relative(frame) for frame in shown.stack if frame.filename.startswith((PREFIX, WORK))]
    )
    _trim(shown.__cause__, seen)
    _trim(shown.__context__, seen)
    for inner in shown.exceptions or ():
        _trim(inner, seen)


def _relative(frame):
    if frame.filename.startswith(WORK):
        frame.filename = frame.filename[len(WORK):]
    return frame


def _message(error):
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})" if error.lineno else str(error.msg)
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__name__} whose message cannot be read>"
