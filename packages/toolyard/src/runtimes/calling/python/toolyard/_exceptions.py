"""What the hub is told about an exception."""


def describe(error):
    """The type and message. A subclass of `TimeoutError` with another name has `kind` as well."""
    told = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, TimeoutError):
        told["kind"] = "timeout"
    return told
