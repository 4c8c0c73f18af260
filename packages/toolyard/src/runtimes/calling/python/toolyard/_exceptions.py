"""Describes an exception for the hub."""


def describe(error):
    """Returns the type and the message. For a subclass of `TimeoutError` with another name, also `kind`."""
    told = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, TimeoutError):
        told["kind"] = "timeout"
    return told
