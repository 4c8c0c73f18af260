"""Runs one job: compiles and runs its code, and writes the result as JSON."""

import ast
import builtins
import inspect
import sys
import types

from . import errors, guard, restricted, rewrite, tools, values

_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_stdout, _stderr = sys.stdout, sys.stderr


class Session:
    """The variables of a session's code, and the number of its runs so far."""

    def __init__(self):
        # Each profile has its own variables, which the other cannot reach.
        self._modules = {"scripting": types.ModuleType("__main__"), "restricted": types.ModuleType("__main__")}
        self._runs = 0
        builtins.exit = builtins.quit = _exit
        builtins.input = _no_input

    def run(self, job):
        self._runs += 1
        name = f"{errors.PREFIX}>" if self._runs == 1 else f"{errors.PREFIX} {self._runs}>"
        errors.remember(name, job["code"])
        try:
            return self._finished(job, self._value(job, name))
        except SystemExit as left:
            return _left(left)
        except values.TooLarge:
            return _failed(
                "limit",
                "ResultTooLarge",
                f"The result is larger than {job['resultBytes']} bytes of JSON (`sandbox.result`). "
                "Return less, or write it to a file.",
            )
        except MemoryError as error:
            return {
                "end": "memory",
                "error": _described(
                    error, "MemoryError", "The code used all the memory that it may use. Keep less at once."
                ),
            }
        except BaseException as error:
            end = "limit" if isinstance(error, tools.ToolError) and error.kind == "limited" else "error"
            return {"end": end, "error": _described(error, type(error).__name__, "")}
        finally:
            tools.forget()
            sys.stdout, sys.stderr = _stdout, _stderr

    def _value(self, job, name):
        scope = self._prepare(job)
        tree = ast.parse(job["code"], name)
        if job["profile"] == "restricted":
            tree = _restrict(tree, scope, name, job["code"])
        else:
            scope.update(
                {"__builtins__": builtins, "tools": tools.tools, "search": tools.search, "ToolError": tools.ToolError}
            )
        code = compile(rewrite.rewrite(tree), name, "exec", flags=_FLAGS, dont_inherit=True)
        try:
            value = self._execute(code, scope)
        except rewrite.Returned as returned:
            value = returned.value
        value = _resolved(value)
        for asked in tools.finish():
            print(f"{asked._path} failed, and the code did not use its answer: {asked._error}", file=sys.stderr)
        return value

    def _prepare(self, job):
        module = sys.modules["__main__"] = self._modules[job["profile"]]
        # Only the folder of the code is searched again: its files may have changed, those of the library have not.
        sys.path_importer_cache.pop(errors.WORK.rstrip("/"), None)
        scope = module.__dict__
        scope.update({"__name__": "__main__", "inputs": job["inputs"], rewrite.RETURNED: rewrite.Returned})
        scope.pop(rewrite.RESULT, None)
        return scope

    def _execute(self, code, scope):
        if code.co_flags & inspect.CO_COROUTINE:
            _loop_run(types.FunctionType(code, scope)())
        else:
            exec(code, scope)
        return scope.pop(rewrite.RESULT, None)

    def _finished(self, job, value):
        if value is None:
            return {"end": "finished"}
        return {"end": "finished", "result": values.to_json(value, job["resultBytes"])}


def _restrict(tree, scope, name, code):
    scope["__builtins__"] = {**restricted.names(scope), "input": _no_input_at_all}
    sys.stdout, sys.stderr = restricted.streams()
    return guard.check(tree, name, code)


def _resolved(value):
    """Awaits a call that the code did not await."""
    if isinstance(value, tools.Asked):
        return value.result()
    return _loop_run(value) if inspect.iscoroutine(value) else value


def _loop_run(coroutine):
    import asyncio
    return asyncio.run(coroutine)


def _left(left):
    if left.code is None or left.code == 0:
        return {"end": "finished"}
    said = left.code if isinstance(left.code, str) else f"The code ended itself with exit code {left.code}."
    return {"end": "error", "error": {**_described(left, "SystemExit", said), "message": said}}


def _failed(end, kind, message):
    return {"end": end, "error": {"type": kind, "message": message, "traceback": ""}}


def _described(error, kind, message):
    try:
        described = errors.describe(error)
    except (MemoryError, RecursionError, Exception):
        return {"type": kind, "message": message or "The error cannot be shown.", "traceback": ""}
    return {**described, "message": described["message"] or message}


def _exit(code=None):
    raise SystemExit(code)


def _no_input(prompt=""):
    raise EOFError("input() is not available here. Pass values as `inputs`, or write them into the code.")


def _no_input_at_all(prompt=""):
    raise EOFError("input() is not available here. Write the values into the code.")
