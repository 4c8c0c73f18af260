"""The core server's errors. A wrapper raises them to choose the error of its caller."""


class MCPError(Exception):
    """`code` and `data` are those of the JSON-RPC error."""

    code = -32000

    def __init__(self, message, code=None, data=None):
        super().__init__(message)
        if code is not None:
            self.code = code
        self.data = data


class MCPToolNotFoundError(MCPError):
    code = -32601


class MCPResourceNotFoundError(MCPError):
    code = -32601


class MCPInvalidParamsError(MCPError, ValueError):
    """The parameters are invalid: an input is missing, or a value is out of range."""

    code = -32602


class MCPToolExecutionError(MCPError):
    pass


class MCPSDKNotFoundError(MCPError):
    code = -32001
