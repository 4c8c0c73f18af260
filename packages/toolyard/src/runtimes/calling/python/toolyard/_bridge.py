"""The Python end of a module. Sends its registrations to the hub and runs the functions that the hub calls, each
call in its own thread.

Lines to the hub: `register_tool`, `register_resource`, `files`, then `ready` or `failed`; answers with the id of
the call; and the requests, log lines and progress of running code, marked with its call.
"""

import base64
import contextvars
import io
import os
import sys
import threading
import traceback

from . import _cancelled, _channel
from ._functions import caller_of, retriever_of
from ._errors import MCPInvalidParamsError
from ._hub import Hub, Logger
from ._load import load, own_files

_call = contextvars.ContextVar("toolyard_call", default=None)


class Call:
    def __init__(self, number):
        self.number = number
        self.is_cancelled = False


class Record:
    """A registered tool or resource, with its members as attributes."""

    def __init__(self, **parts):
        self.__dict__.update(parts)


class Server:
    """The argument of `register_tools(mcp_instance)`."""

    def __init__(self, line):
        self._line = line
        self._closers = []
        self._module = None
        self._tools = {}
        self._resources = {}
        self._hub = Hub(lambda: line, carry)
        self.logger = Logger(lambda message: line.send({**message, **carry()}))

    @property
    def tool_registry(self):
        """Tools by name: those of this module and, while a call runs, the server's other tools."""
        others = {entry["name"]: self._foreign(entry) for entry in self._listed()}
        return {**others, **self._tools}

    @property
    def resource_registry(self):
        """Resources by URI template: those of this module and, while a call runs, the server's other resources."""
        others = [] if _call.get() is None else self.get_capabilities()["resources"]
        return {**{entry["uri_template"]: self._foreign_resource(entry) for entry in others}, **self._resources}

    @property
    def discovered_modules(self):
        """Modules by dotted name: this module and, while a call runs, the known facts of the others."""
        own = {} if self._module is None else {self._module.__name__: self._module}
        if _call.get() is None:
            return own
        status = self.execute_tool("meta.get_server_status")
        names = [name for name in status.get("loaded_modules", []) if name not in own]
        return {**{name: self._described(name) for name in names}, **own}

    def execute_tool(self, name, params=None):
        """Runs a tool of the server as the caller of the running call, and returns its value. If no call runs, for
        example while the module registers, there is no caller, so only tools of this module can be run,
        directly."""
        if _call.get() is None and name in self._tools:
            return settled(self._tools[name].run(params or {}))
        return self._hub.call_tool(name, params or {})

    def get_resource(self, uri):
        """Reads a resource of the server as the caller of the running call, and returns its plain content."""
        return self._hub.read_resource(uri)

    def get_capabilities(self):
        """Returns the answer of `mcp/discover` that the caller may see. If no call runs, returns what this module
        has registered."""
        if _call.get() is not None:
            try:
                return self.execute_tool("meta.get_full_capabilities")
            except _channel.ToolError as error:
                if error.kind not in ("unknown_tool", "denied"):
                    raise
        tools = [{"name": t.name, "description": t.description, "schema": t.schema} for t in self._tools.values()]
        resources = [{"uri_template": r.uri_template, "description": r.description} for r in self._resources.values()]
        return {
            "mcp_version": "1.0-gnn",
            "server_description": "GNN Project MCP Server",
            "tools": tools,
            "resources": resources,
        }

    def discover_modules(self):
        """Returns whether there is at least one tool. The server finds modules itself, whenever one changes."""
        return bool(self._tools) or any(not entry["name"].startswith("meta.") for entry in self._listed())

    def _listed(self):
        # The search tools are left out of the list of all tools.
        listed = self._hub.list_tools() if _call.get() is not None else []
        return [entry for entry in listed if entry["name"] not in ("tool_search", "execute_tool")]

    def _foreign_resource(self, entry):
        template = entry["uri_template"]
        return Record(
            uri_template=template,
            retriever=lambda uri=template, **_variables: self.get_resource(uri),
            description=entry.get("description", ""),
        )

    def _foreign(self, entry):
        name = entry["name"]
        return Record(
            name=name,
            func=lambda **params: self.execute_tool(name, params),
            schema=entry.get("inputSchema", {}),
            description=entry.get("description", ""),
        )

    def _described(self, name):
        info = self.execute_tool("meta.get_module_info", {"module_name": name})
        return Record(__name__=name, __file__=info.get("path"), tools=info.get("provided_tools_sample", []))

    def register_tool(self, name, func, schema=None, description="", invalid_params=(), **options):
        """Registers a tool. `invalid_params`: exceptions of `func` that are reported as invalid parameters, such as
        `ValueError`.

        `options`: title, output_schema, annotations, keywords, visibility, timeout, max_concurrent, aliases, ...
        """
        if not callable(func):
            raise TypeError("Tool %r: `func` must be a function, got %s." % (name, type(func).__name__))
        schema = {} if schema is None else schema
        run = refusing(caller_of(func, schema), invalid_params)
        self._tools[name] = Record(name=name, func=func, schema=schema, description=description, run=run)
        self._tell("register_tool", name=name, schema=schema, description=description or "", options=options)

    def register_resource(self, uri_template, retriever, description="", **options):
        if not callable(retriever):
            raise TypeError(
                "Resource %r: `retriever` must be a function, got %s." % (uri_template, type(retriever).__name__)
            )
        self._resources[uri_template] = Record(
            uri_template=uri_template, retriever=retriever, description=description, run=retriever_of(retriever)
        )
        self._tell("register_resource", uri=uri_template, description=description or "", options=options)

    def on_close(self, close):
        """Adds a function that runs when the module is replaced or removed, or when the hub ends."""
        self._closers.append(close)

    def _tell(self, method, **params):
        self._line.send({"method": method, "params": params})

    def close(self):
        for close in self._closers:
            try:
                close()
            except Exception:
                traceback.print_exc()


class Bridge:
    def __init__(self, line, root):
        self._line = line
        self._root = root
        self._calls = {}
        self._files = None
        self._known = 0
        self.server = Server(line)

    def start(self, path):
        try:
            module = load(path, self._root)
            self.server._module = module
            register = getattr(module, "register_tools", None)
            if callable(register):
                # An `async def register_tools` registers when it is awaited.
                settled(register(self.server))
        except BaseException as error:
            self._tell_files()
            return self._line.send({"method": "failed", "params": describe(error)})
        self._tell_files()
        self._line.send({"method": "ready", "params": {"registers": callable(register)}})

    def take(self, message):
        method, params = message.get("method"), message.get("params") or {}
        if method == "cancel":
            call = self._calls.get(params.get("id"))
            if call:
                call.is_cancelled = True
            return
        call = Call(message["id"])
        self._calls[call.number] = call
        threading.Thread(target=self._run, args=(call, method, params), name="call", daemon=True).start()

    def _run(self, call, method, params):
        _call.set(call)
        try:
            answer = {"id": call.number, "result": to_result(settled(self._begin(method, params)))}
        except BaseException as error:
            answer = {"id": call.number, "error": describe(error)}
        finally:
            sys.stdout.flush()
            self._calls.pop(call.number, None)
        try:
            self._line.send(answer)
        except (TypeError, ValueError, RecursionError) as error:
            self._line.send(
                {
                    "id": call.number,
                    "error": {
                        "type": type(error).__name__,
                        "message": "the result cannot be written as JSON: %s" % error,
                    },
                }
            )
        self._tell_files()

    def _begin(self, method, params):
        registry = self.server._tools if method == "tool" else self.server._resources
        record = registry.get(params["name"])
        if record is None:
            raise LookupError("the module has not registered it since its process was restarted")
        if method == "tool":
            return record.run(params["arguments"])
        return record.run(params["uri"], params["variables"])

    def _tell_files(self):
        if self._known == len(sys.modules):
            return
        self._known = len(sys.modules)
        files = own_files(self._root)
        if files != self._files:
            self._files = files
            self._line.send({"method": "files", "params": {"files": files}})


class Prints(io.TextIOBase):
    """Standard output: each line becomes a log message of the call that printed it."""

    encoding = "utf-8"

    def __init__(self, line):
        self._line = line
        self._parts = {}

    @property
    def buffer(self):
        return sys.__stdout__.buffer

    def writable(self):
        return True

    def write(self, text):
        key = _call.get()
        whole = self._parts.pop(key, "") + text
        *lines, rest = whole.split("\n")
        if rest:
            self._parts[key] = rest
        for line in lines:
            self._say(line)
        return len(text)

    def flush(self):
        rest = self._parts.pop(_call.get(), "")
        if rest:
            self._say(rest)

    def _say(self, line):
        if line:
            self._line.send({"log": line, "level": "info", **carry()})


def carry():
    call = _call.get()
    return {} if call is None else {"call": call.number}


def refusing(run, invalid):
    """Converts the exceptions in `invalid` to errors about invalid parameters, which are no failure of the tool."""
    if not invalid:
        return run

    def told(arguments):
        try:
            return settled(run(arguments))
        except invalid as error:
            raise MCPInvalidParamsError(str(error)) from error

    return told


def settled(value):
    if not hasattr(value, "__await__"):
        return value
    import asyncio

    async def wait():
        return await value

    return asyncio.run(wait())


def to_result(value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"bytes": base64.b64encode(bytes(value)).decode("ascii")}
    return {"value": value}


def describe(error):
    told = {
        "type": type(error).__name__,
        "message": str(error) or type(error).__name__,
        "traceback": traceback.format_exc(),
    }
    code = getattr(error, "code", None)
    if isinstance(code, int) and not isinstance(code, bool):
        told["code"] = code
        if getattr(error, "data", None) is not None:
            told["data"] = error.data
    return told


def serve(path, root):
    line = _channel.current()
    _channel.carry = carry
    _cancelled.ask = lambda: _call.get() is not None and _call.get().is_cancelled
    sys.stdout = Prints(line)
    bridge = Bridge(line, root)
    line._on_message = bridge.take
    # Reading starts immediately, because a module may call tools while it registers.
    reading = threading.Thread(target=line.read, name="toolyard", daemon=True)
    line._reader = reading
    reading.start()
    bridge.start(path)
    reading.join()
    bridge.server.close()
