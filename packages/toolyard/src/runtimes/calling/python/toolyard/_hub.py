"""The hub's functions for a tool, over any connection."""

import base64
import json


class Image:
    """A generated image: `data` (bytes) and `mime_type`."""

    def __init__(self, data, mime_type):
        self.data = data
        self.mime_type = mime_type


class Logger:
    def __init__(self, send):
        self._send = send

    def _log(self, level, message, *args):
        self._send({"log": str(message) % args if args else str(message), "level": level})

    def debug(self, message, *args, **_options):
        self._log("debug", message, *args)

    def info(self, message, *args, **_options):
        self._log("info", message, *args)

    def warning(self, message, *args, **_options):
        self._log("warning", message, *args)

    warn = warning

    def error(self, message, *args, **_options):
        self._log("error", message, *args)

    exception = error
    critical = error


class Tools:
    """`tools.weather.get(city="Oslo")` calls the tool `weather.get`; `tools["weather.get"]` is the same."""

    def __init__(self, call, name=""):
        self._call = call
        self._name = name

    def __getattr__(self, step):
        if step.startswith("__"):
            raise AttributeError(step)
        return Tools(self._call, self._name + "." + step if self._name else step)

    __getitem__ = __getattr__

    def __call__(self, arguments=None, **named):
        return self._call(self._name, {**(arguments or {}), **named})


class Hub:
    """`line()` returns the channel, `extra()` the members that are added to each request."""

    def __init__(self, line, extra=dict):
        self._line = line
        self._extra = extra
        self.logger = Logger(lambda message: self._send(message))
        self.tools = Tools(self.call_tool)

    def _send(self, message):
        self._line().send({**message, **self._extra()})

    def _ask(self, method, params):
        return self._line().request(method, {**params, **self._extra()})

    async def _ask_async(self, method, params):
        return await self._line().request_async(method, {**params, **self._extra()})

    def progress(self, progress, total=None, message=None):
        """Reports progress. It also resets the inactivity time limit."""
        step = {"progress": progress, "total": total, "message": message}
        self._send({key: value for key, value in step.items() if value is not None})

    def call_tool(self, name, arguments=None):
        """Calls another tool of the hub as the same caller and returns its plain value. Raises `ToolError`."""
        return self._ask("tools/call", _call(name, arguments))["value"]

    async def call_tool_async(self, name, arguments=None):
        return (await self._ask_async("tools/call", _call(name, arguments)))["value"]

    def call_tool_result(self, name, arguments=None):
        """Like `call_tool`, but returns the unchanged MCP result: content blocks and structured content."""
        return self._ask("tools/call", {"name": name, "arguments": arguments or {}})

    def read_resource(self, uri):
        """Reads a resource of the hub as the same caller and returns its plain content. Raises `ToolError`."""
        return self._ask("resources/read", {"uri": uri, "as": "value"})["value"]

    def search_tools(self, query="", limit=5):
        """Returns the tools that match a query best: a list of name, description, score (0 to 1) and inputSchema."""
        return self._ask("tools/search", {"query": query, "limit": limit})["tools"]

    async def search_tools_async(self, query="", limit=5):
        return (await self._ask_async("tools/search", {"query": query, "limit": limit}))["tools"]

    def list_tools(self):
        """Returns every tool that the caller may use."""
        return self._ask("tools/list", {})["tools"]

    async def list_tools_async(self):
        return (await self._ask_async("tools/list", {}))["tools"]

    def generate_text(self, prompt, system=None, max_tokens=None, temperature=None, model=None):
        """Returns the text of the configured language model. Raises `ToolError` of kind unavailable if none is
        configured."""
        return self._ask("models/generate_text", _text(prompt, system, max_tokens, temperature, model))["text"]

    async def generate_text_async(self, prompt, system=None, max_tokens=None, temperature=None, model=None):
        return (await self._ask_async("models/generate_text", _text(prompt, system, max_tokens, temperature, model)))[
            "text"
        ]

    def generate_image(self, prompt, negative_prompt=None, width=None, height=None, model=None):
        """Returns an `Image` of the configured image model. Raises `ToolError` of kind unavailable if none is
        configured."""
        return _image(self._ask("models/generate_image", _picture(prompt, negative_prompt, width, height, model)))

    async def generate_image_async(self, prompt, negative_prompt=None, width=None, height=None, model=None):
        return _image(
            await self._ask_async("models/generate_image", _picture(prompt, negative_prompt, width, height, model))
        )


def _call(name, arguments):
    return {"name": name, "arguments": arguments or {}, "as": "value"}


def _text(prompt, system, max_tokens, temperature, model):
    return _given(prompt=prompt, system=system, max_tokens=max_tokens, temperature=temperature, model=model)


def _picture(prompt, negative_prompt, width, height, model):
    return _given(prompt=prompt, negative_prompt=negative_prompt or None, width=width, height=height, model=model)


def _given(**params):
    return {key: value for key, value in params.items() if value is not None}


def _image(result):
    return Image(base64.b64decode(result["data"]), result["mimeType"])


def parse_arguments(raw):
    """Reads standard input as a dict."""
    value = json.loads(raw.decode("utf-8")) if raw.strip() else {}
    return value if isinstance(value, dict) else {}
