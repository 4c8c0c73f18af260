"""The connection to the hub: JSON lines are written to one descriptor, answers are read from another. Threads and
event loops may use it concurrently."""

import json
import os
import threading

from ._values import to_line

DESCRIPTORS = "TOOLYARD_DESCRIPTORS"


class ToolError(Exception):
    """A failed call. `kind` is an outcome code of the hub's table: tool_error, unknown_tool, invalid_params,
    denied, limited, timeout, ..."""

    def __init__(self, message, kind="internal", details=None, result=None):
        super().__init__(message)
        self.kind = kind
        self.details = details
        self.result = result


class Channel:
    """`on_message` is called in the reading thread with every line that is not an answer."""

    def __init__(self, out, into, on_message=None):
        self._out = out
        self._into = into
        self._on_message = on_message
        self._writing = threading.Lock()
        self._state = threading.Lock()
        self._pending = {}
        self._last = 0
        self._reader = None
        self._gone = False
        # The script's own children must not inherit the descriptors.
        os.set_inheritable(out, False)
        os.set_inheritable(into, False)

    def send(self, message):
        data = to_line(message)
        with self._writing:
            view = memoryview(data)
            while view:
                view = view[os.write(self._out, view) :]

    def request(self, method, params):
        answer = []
        done = threading.Event()

        def settle(message):
            answer.append(message)
            done.set()

        self._ask(method, params, settle)
        done.wait()
        return result_of(answer[0])

    async def request_async(self, method, params):
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def settle(message):
            try:
                loop.call_soon_threadsafe(lambda: future.done() or future.set_result(message))
            except RuntimeError:
                pass  # The event loop ended before its answer arrived.

        self._ask(method, params, settle)
        return result_of(await future)

    def read(self):
        """Reads until the hub closes the connection."""
        rest = b""
        while True:
            try:
                chunk = os.read(self._into, 65536)
            except OSError:
                chunk = b""
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._take(line)
        with self._state:
            self._gone = True
            left, self._pending = list(self._pending.values()), {}
        for settle in left:
            settle(GONE)

    def _ask(self, method, params, settle):
        with self._state:
            if self._gone:
                return settle(GONE)
            self._last += 1
            number = self._last
            self._pending[number] = settle
            if self._reader is None:
                self._reader = threading.Thread(target=self.read, name="toolyard", daemon=True)
                self._reader.start()
        try:
            self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        except BaseException:
            with self._state:
                self._pending.pop(number, None)
            raise

    def _take(self, line):
        message = json.loads(line) if line.strip() else {}
        if "method" not in message and "id" in message:
            with self._state:
                settle = self._pending.pop(message["id"], None)
            if settle:
                settle(message)
        elif self._on_message:
            self._on_message(message)

    def reads_elsewhere(self):
        """Declares that other code calls `read`, so that no thread is started for it."""
        self._reader = threading.current_thread()


GONE = {"error": {"message": "The hub has exited.", "data": {"kind": "unavailable"}}}


def result_of(message):
    error = message.get("error")
    if error is None:
        return message["result"]
    data = error.get("data") or {}
    raise ToolError(error.get("message", ""), data.get("kind", "internal"), data.get("details"), data.get("result"))


def carry():
    """Returns the members that are added to each message. A process that serves several calls adds the call's
    number."""
    return {}


_current = None
_opening = threading.Lock()


def current():
    """Returns the connection of this process, which is opened once."""
    global _current
    with _opening:
        if _current is None:
            _current = _open()
        return _current


def install(channel):
    global _current
    _current = channel


def _open():
    numbers = os.environ.get(DESCRIPTORS, "")
    try:
        out, into = (int(number) for number in numbers.split(","))
        os.fstat(out)
        os.fstat(into)
    except (ValueError, OSError):
        raise ToolError(
            "This program was not started by a hub as a tool, so it cannot reach a hub.", "unavailable"
        ) from None
    return Channel(out, into)
