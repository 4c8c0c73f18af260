"""The hub that runs this script: the script's arguments, its result, and the hub's other tools.

    from toolyard import get, call_tool, return_object

    city = get("city", "Oslo")
    return_object({"city": city, "weather": call_tool("weather.get", {"city": city})})

All functions act for the caller of this tool, with its rights and within its time.
"""

import sys as _sys

from . import _channel
from ._cancelled import is_cancelled as cancelled
from ._channel import ToolError
from ._errors import (
    MCPError,
    MCPInvalidParamsError,
    MCPResourceNotFoundError,
    MCPSDKNotFoundError,
    MCPToolExecutionError,
    MCPToolNotFoundError,
)
from ._hub import Hub as _Hub, Image, parse_arguments as _parse

__all__ = [
    "Image",
    "MCPError",
    "MCPInvalidParamsError",
    "MCPResourceNotFoundError",
    "MCPSDKNotFoundError",
    "MCPToolExecutionError",
    "MCPToolNotFoundError",
    "ToolError",
    "call_tool",
    "call_tool_async",
    "call_tool_result",
    "cancelled",
    "execute_code",
    "execute_tool",
    "generate_image",
    "generate_image_async",
    "generate_text",
    "generate_text_async",
    "get",
    "get_arguments",
    "list_tools",
    "list_tools_async",
    "logger",
    "progress",
    "return_audio",
    "return_error",
    "return_file",
    "return_image",
    "return_object",
    "return_string",
    "search_tools",
    "search_tools_async",
    "tool_search",
    "tools",
]

_hub = _Hub(lambda: _channel.current(), lambda: _channel.carry())
_arguments = None

call_tool = _hub.call_tool
call_tool_async = _hub.call_tool_async
call_tool_result = _hub.call_tool_result
search_tools = _hub.search_tools
search_tools_async = _hub.search_tools_async
list_tools = _hub.list_tools
list_tools_async = _hub.list_tools_async
generate_text = _hub.generate_text
generate_text_async = _hub.generate_text_async
generate_image = _hub.generate_image
generate_image_async = _hub.generate_image_async
progress = _hub.progress
logger = _hub.logger
tools = _hub.tools


def get_arguments():
    """Returns all arguments, checked and with defaults, as a dict. Reads standard input, once."""
    global _arguments
    if _arguments is None:
        _arguments = _parse(_sys.stdin.buffer.read())
    return _arguments


def get(name, default=None):
    """Returns one argument."""
    return get_arguments().get(name, default)


def return_string(text):
    """Sets a text as the tool's result. Printed output then becomes log messages. The last result counts."""
    _channel.current().send({"result": str(text)})


def return_object(value):
    """Sets a JSON value as the tool's result; a dict is structured content."""
    _channel.current().send({"result": value})


def return_image(image, mime_type=None):
    """Sets an image as the tool's result: bytes, a path, a figure of matplotlib or an image of Pillow."""
    _return_media("image", image, mime_type)


def return_audio(sound, mime_type=None):
    """Sets a sound as the tool's result: bytes, or a path."""
    _return_media("audio", sound, mime_type)


def return_file(file, mime_type=None, name=None):
    """Sets a file as the tool's result: bytes, or a path. A text file becomes text."""
    _return_media("file", file, mime_type, name)


def _return_media(kind, given, mime_type, name=None):
    from ._media import media_result

    _channel.current().send({"result": media_result(kind, given, mime_type, name)})


def return_error(message):
    """Fails the call with this message."""
    _channel.current().send({"error": {"message": str(message)}})


def execute_tool(name, arguments=None, parameters=None):
    """Same as `call_tool`. It has the name of the hub's own tool."""
    return call_tool(name, arguments if arguments is not None else parameters)


def tool_search(query="", max_results=5):
    """Same as `search_tools`. It has the name of the hub's own tool."""
    return search_tools(query, max_results)


def execute_code(code, language="python", **more):
    """Runs code in the hub's sandbox, with its tool `execute_code`."""
    return call_tool("execute_code", {"language": language, "code": code, **more})
