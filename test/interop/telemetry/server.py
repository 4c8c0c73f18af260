"""A server on the Python SDK whose tool returns the trace context that it received in `_meta`."""

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("last", log_level="ERROR")


@server.tool()
def where(ctx: Context) -> str:
    meta = ctx.request_context.meta
    values = meta if isinstance(meta, dict) else getattr(meta, "model_extra", None) or {}
    return str(values.get("traceparent"))


server.run("stdio")
