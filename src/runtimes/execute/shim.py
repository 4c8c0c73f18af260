"""Runs `execute(params[, lollms_client_instance])` of one tool file, once.

Arguments: the file. stdin: the parameters as a JSON object. Descriptor 3: JSON lines, `{"log": ..., "level": ...}` and
`{"progress": ...}` while it runs, and at the end one of `{"result": ...}` or `{"error": {"type": ..., "message": ...}}`.
stdout and stderr belong to the tool: whatever it prints is a log line.
"""

import asyncio
import inspect
import io
import json
import os
import sys
import traceback

CONTEXT_NAME = "lollms_client_instance"


class Channel:
    """Descriptor 3, kept from the tool's own children and written in whole lines."""

    def __init__(self):
        number = os.dup(3)
        os.close(3)
        self._stream = io.open(number, "wb", buffering=0)

    def send(self, message):
        # A value that JSON cannot hold is shown as text; NaN and infinity become null.
        line = json.dumps(clean(message), ensure_ascii=False, default=plain, separators=(",", ":"))
        data = (line + "\n").encode("utf-8", "replace")
        while data:
            data = data[self._stream.write(data) :]


def clean(value):
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {str(key): clean(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(member) for member in value]
    return value


def plain(value):
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


class ToolLogger:
    def __init__(self, channel):
        self._channel = channel

    def _log(self, level, message, *args):
        text = str(message) % args if args else str(message)
        self._channel.send({"log": text, "level": level})

    def debug(self, message, *args):
        self._log("debug", message, *args)

    def info(self, message, *args):
        self._log("info", message, *args)

    def warning(self, message, *args):
        self._log("warning", message, *args)

    def error(self, message, *args):
        self._log("error", message, *args)

    exception = error


class ClientContext:
    """What a tool gets as `lollms_client_instance`. Services that this hub does not offer fail when they are used, not before."""

    def __init__(self, channel):
        self.logger = ToolLogger(channel)
        self._channel = channel

    def progress(self, progress, total=None, message=None):
        self._channel.send({"progress": progress, "total": total, "message": message})

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            "lollms_client_instance.%s is not available here. It offers `logger` and `progress(progress, total, message)`." % name
        )


def load(path):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    with open(path, "rb") as file:
        source = file.read()
    module = type(sys)(os.path.splitext(os.path.basename(path))[0])
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(compile(source, path, "exec"), module.__dict__)
    execute = getattr(module, "execute", None)
    if not callable(execute):
        raise AttributeError("The tool's file has no function `execute(params)`.")
    return execute


def takes_context(execute):
    try:
        parameters = inspect.signature(execute).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == CONTEXT_NAME and p.kind is not p.POSITIONAL_ONLY for p in parameters)


def run(path, channel):
    params = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    execute = load(path)
    extra = {CONTEXT_NAME: ClientContext(channel)} if takes_context(execute) else {}
    result = execute(params, **extra)
    if inspect.isawaitable(result):
        result = asyncio.run(wait_for(result))
    return result


async def wait_for(awaitable):
    return await awaitable


def main():
    channel = Channel()
    try:
        message = {"result": run(sys.argv[1], channel)}
    except SystemExit as stop:
        message = {"error": {"type": "SystemExit", "message": "The tool ended itself with code %r instead of returning." % (stop.code,)}}
    except BaseException as error:
        traceback.print_exc()
        message = {"error": {"type": type(error).__name__, "message": str(error)}}
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    try:
        channel.send(message)
    except (TypeError, ValueError, RecursionError) as error:
        channel.send({"error": {"type": type(error).__name__, "message": "The result cannot be written as JSON: %s" % error}})
    # Threads and exit handlers of the tool must not keep an answered call waiting.
    os._exit(0)


main()
