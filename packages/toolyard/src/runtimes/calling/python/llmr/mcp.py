"""`llmr.mcp`: the same functions as `toolyard`, under their names in llmrouter."""

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
