"""`llmr.mcp`: the same functions as `toolyard`, under the names that llmrouter gave them."""

from toolyard import (  # noqa: F401
    ToolError,
    call_tool,
    execute_code,
    execute_tool,
    get,
    list_tools,
    return_error,
    return_object,
    return_string,
    tool_search,
)
