"""Keeps one tool's file loaded and runs its function repeatedly.

Arguments: the file, and the name of the function: `run` or `execute`. The hub sends `{"run": id, "arguments":
{...}, "variables": {...}}`. The answers are `{"begin": id}`; `{"out": base64}` and `{"err": base64}` for printed
output; the messages of the helpers; and at the end `{"end": id}` with `error`, or with `result` if the function
returned a value.
"""

import base64
import io
import os
import queue
import sys
import threading
import traceback

import toolyard
from toolyard import _channel
from toolyard._exceptions import describe
from toolyard._context import CONTEXT_NAME, ClientContext, takes_context


class Print(io.RawIOBase):
    """Printed output, in order with all other messages."""

    def __init__(self, channel, key):
        super().__init__()
        self._channel = channel
        self._key = key

    def writable(self):
        return True

    def write(self, data):
        self._channel.send({self._key: base64.b64encode(data).decode("ascii")})
        return len(data)


def printer(channel, key):
    return io.TextIOWrapper(
        io.BufferedWriter(Print(channel, key)), encoding="utf-8", errors="replace", line_buffering=key == "err"
    )


def load(path, name):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.argv = [path]
    with open(path, "rb") as file:
        source = file.read()
    module = type(sys)(os.path.splitext(os.path.basename(path))[0])
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(compile(source, path, "exec"), module.__dict__)
    function = getattr(module, name, None)
    if not callable(function):
        what = "run(**arguments)" if name == "run" else "execute(params)"
        raise AttributeError("The tool's file has no function `%s`, which a warm interpreter calls." % what)
    return function


def call(function, name, arguments, channel):
    toolyard._arguments = arguments
    if name == "run":
        result = function(**arguments)
    else:
        extra = {CONTEXT_NAME: ClientContext(lambda: channel)} if takes_context(function) else {}
        result = function(arguments, **extra)
    if hasattr(result, "__await__"):
        import asyncio

        result = asyncio.run(wait_for(result))
    return result


async def wait_for(awaitable):
    return await awaitable


def answer(work):
    """Returns the result of the work as members of the last message."""
    try:
        result = work()
    except SystemExit as stop:
        if stop.code is None or stop.code == 0:
            return {}
        return {
            "error": {
                "type": "SystemExit",
                "message": "The tool ended itself with code %r instead of returning." % (stop.code,),
            }
        }
    except BaseException as error:
        traceback.print_exc()
        return {"error": describe(error)}
    return {} if result is None else {"result": result}


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def finish(channel, number, members):
    try:
        channel.send({"end": number, **members})
    except (TypeError, ValueError, RecursionError) as error:
        channel.send(
            {
                "end": number,
                "error": {"type": type(error).__name__, "message": "The result cannot be written as JSON: %s" % error},
            }
        )


def set_context(variables):
    """Sets the trace context of a call. A call without one must not continue the trace of the call before."""
    for name in ("TRACEPARENT", "TRACESTATE"):
        if name in variables:
            os.environ[name] = variables[name]
        else:
            os.environ.pop(name, None)


def serve(channel, requests, path, name):
    function = None
    while True:
        request = requests.get()
        number = request["run"]
        set_context(request.get("variables", {}))
        channel.send({"begin": number})
        if function is None:
            loaded = []
            members = answer(lambda: loaded.append(load(path, name)))
            if not loaded:
                flush()
                finish(
                    channel,
                    number,
                    members
                    or {
                        "error": {"type": "SystemExit", "message": "The tool's file ended itself while it was loaded."}
                    },
                )
                os._exit(0)  # A file that failed to load is loaded again in the next call.
            function = loaded[0]
        members = answer(lambda: call(function, name, request["arguments"], channel))
        flush()
        finish(channel, number, members)


def main():
    requests = queue.SimpleQueue()
    out, into = (int(number) for number in os.environ[_channel.DESCRIPTORS].split(","))
    channel = _channel.Channel(out, into, requests.put)
    _channel.install(channel)

    def read():
        channel.read()
        os._exit(0)  # The hub has exited.

    channel.reads_elsewhere()
    threading.Thread(target=read, name="toolyard", daemon=True).start()
    sys.stdout = printer(channel, "out")
    sys.stderr = printer(channel, "err")
    serve(channel, requests, sys.argv[1], sys.argv[2])


main()
