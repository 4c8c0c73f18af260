"""Reports whether the caller has cancelled. From the first check on, the hub's SIGTERM no longer ends the process
but is only recorded; SIGKILL follows soon."""

import signal
import threading

_is_cancelled = False
_listens = False


# Set by a process that serves several calls and knows which of them were cancelled.
ask = None


def is_cancelled():
    global _listens
    if ask:
        return ask()
    if not _listens and threading.current_thread() is threading.main_thread():
        _listens = True
        signal.signal(signal.SIGTERM, _note)
    return _is_cancelled


def _note(_number, _frame):
    global _is_cancelled
    _is_cancelled = True
