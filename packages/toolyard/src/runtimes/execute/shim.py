"""Runs `execute(params[, lollms_client_instance])` of one tool file, once.

Arguments: the file. stdin: the parameters as a JSON object. While the function runs, the connection to the hub
carries requests and their answers, `{"log": ..., "level": ...}` and `{"progress": ...}`; at the end, one
`{"result": ...}` or `{"error": {"type": ..., "message": ...}}`. stdout and stderr belong to the tool: each printed
line is a log line.
"""

import json
import os
import sys
import traceback

from toolyard import _channel
from toolyard._exceptions import describe
from toolyard._context import CONTEXT_NAME, ClientContext, takes_context


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


def run(path, channel):
    params = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    execute = load(path)
    extra = {CONTEXT_NAME: ClientContext(lambda: channel)} if takes_context(execute) else {}
    result = execute(params, **extra)
    if hasattr(result, "__await__"):
        import asyncio

        result = asyncio.run(wait_for(result))
    return result


async def wait_for(awaitable):
    return await awaitable


def main():
    channel = _channel.current()
    try:
        message = {"result": run(sys.argv[1], channel)}
    except SystemExit as stop:
        message = {
            "error": {
                "type": "SystemExit",
                "message": "The tool ended itself with code %r instead of returning." % (stop.code,),
            }
        }
    except BaseException as error:
        traceback.print_exc()
        message = {"error": describe(error)}
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    try:
        channel.send(message)
    except (TypeError, ValueError, RecursionError) as error:
        channel.send(
            {"error": {"type": type(error).__name__, "message": "The result cannot be written as JSON: %s" % error}}
        )
    # Threads and exit handlers of the tool must not delay an answered call.
    os._exit(0)


main()
