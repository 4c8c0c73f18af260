"""Whether the caller gave up. Looking for the first time turns the hub's SIGTERM from an end into a word; SIGKILL
follows soon."""

import signal
import threading

_is_cancelled = False
_listens = False


# A process that serves several calls knows of each by itself.
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
