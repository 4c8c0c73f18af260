"""`tools.<source>.<name>(...)` and `search(...)`: the code's requests to the hub."""

import json
import operator

from . import link, values

_ARGUMENT_BYTES = 1 << 30
_ids = iter(range(1, 1 << 53))
_running = {}


class ToolError(Exception):
    """A failed tool call. `kind` is the reason; `retryable` is true if the same call may succeed later."""

    # The code's own module name, so that tracebacks name no module of the host.
    __module__ = "__main__"

    def __init__(self, message, kind="tool_error", retryable=False):
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.retryable = retryable


class Asked:
    """The future answer of a tool, whose call is already running. `await` it, or use it like its value."""

    __slots__ = ("_path", "_done", "_value", "_error", "_waiters", "_seen")

    def __init__(self, path, send):
        self._path = path
        self._done = self._seen = False
        self._value = self._error = None
        self._waiters = []
        number = next(_ids)
        _running[number] = self
        try:
            send(number)
        except BaseException:
            del _running[number]
            raise

    def __await__(self):
        if not self._done:
            from asyncio import get_running_loop
            future = get_running_loop().create_future()
            self._waiters.append(future)
            yield from future
        return self._take()

    def result(self):
        """Waits for the value and returns it. Raises ToolError if the call failed."""
        while not self._done:
            wait(None)
        return self._take()

    def _take(self):
        self._seen = True
        if self._error is not None:
            raise self._error.with_traceback(None)
        return self._value

    def _settle(self, ok, text):
        answer = json.loads(text) if text else None
        if ok:
            self._value = answer
        else:
            self._error = ToolError(answer["message"], answer["kind"], answer["retryable"])
        self._done = True
        for future in self._waiters:
            if not future.done():
                future.set_result(None)

    __yard_value__ = result

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.result(), name)

    def __repr__(self):
        return repr(self.result())

    def __str__(self):
        return str(self.result())

    def __format__(self, spec):
        return format(self.result(), spec)

    def __hash__(self):
        return id(self)

    def __setitem__(self, key, value):
        self.result()[key] = value

    def __delitem__(self, key):
        del self.result()[key]


def _stand_in(name, function):
    def method(self, *others):
        return function(self.result(), *(other.result() if isinstance(other, Asked) else other for other in others))
    method.__name__ = name
    setattr(Asked, name, method)


for _name in (
    "getitem",
    "contains",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "neg",
    "pos",
    "abs",
    "index",
):
    _stand_in(f"__{_name}__", getattr(operator, f"__{_name}__"))
for _name, _function in (
    ("len", len),
    ("iter", iter),
    ("bool", bool),
    ("int", int),
    ("float", float),
    ("reversed", reversed),
    ("round", round),
):
    _stand_in(f"__{_name}__", _function)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    _stand_in(f"__r{_name}__", lambda mine, other, _do=getattr(operator, f"__{_name}__"): _do(other, mine))


class _Path:
    """The path between `tools.` and the brackets of a call."""

    __slots__ = ("_path",)

    def __init__(self, path):
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name == "sync" and "." in self._path:
            return lambda *args, **named: self(*args, **named).result()
        return self[name]

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise TypeError(
                f"A tool is named by text, got {type(name).__name__}. "
                "Write tools[\"source\"][\"name\"](...) or tools.source.name(...)."
            )
        return _Path(f"{self._path}.{name}" if self._path else name)

    def __setattr__(self, name, value):
        raise AttributeError("Tools cannot be replaced. Give your function another name.")

    # Positional-only, because a tool may have an argument `self`.
    def __call__(self, /, *args, **named):
        if not self._path:
            raise TypeError("Name a tool: tools.<source>.<name>(...). search(\"what you need\") finds it.")
        if len(args) > 1 or (args and not isinstance(args[0], (dict, type(None)))):
            raise TypeError(
                f"tools.{self._path} takes its arguments by name, or as one dict. Got {len(args)} by position."
            )
        given = {**(args[0] or {} if args else {}), **named}
        text = values.to_json(given, _ARGUMENT_BYTES)
        return Asked(f"tools.{self._path}", lambda number: link.send("call", id=number, path=self._path, json=text))

    def __repr__(self):
        return f"<tools.{self._path}>" if self._path else "<tools>"


tools = _Path("")


def search(query, limit=10):
    """Finds tools by what they do, and returns their names, signatures and descriptions, best match first. `await`
    the result, or use it directly."""
    return Asked("search", lambda number: link.send("search", id=number, query=str(query), limit=max(1, int(limit))))


def running():
    return bool(_running)


def wait(seconds):
    """Waits until an answer arrives, at most this many seconds."""
    link.send("wait", ms=None if seconds is None else max(0, seconds * 1000))
    collect()


def collect():
    while (answer := link.receive()) is not None:
        head, text = answer
        _, number, ok = head.split(" ")
        asked = _running.pop(int(number), None)
        if asked is not None:
            asked._settle(ok == "1", text)
            if not asked._seen:
                _unseen.append(asked)


_unseen = []


def finish():
    """Waits for all calls that the code started without using their answers. Returns those that failed unnoticed."""
    while _running:
        wait(None)
    failed = [asked for asked in _unseen if asked._error is not None and not asked._seen]
    _unseen.clear()
    return failed


def forget():
    _running.clear()
    _unseen.clear()
