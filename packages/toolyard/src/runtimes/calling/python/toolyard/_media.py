"""Converts images, sounds and files to results."""

import base64
import io
import mimetypes
import os
from urllib.parse import quote

# First bytes that identify a file format.
_SIGNS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)


def media_result(kind, given, mime_type=None, name=None):
    """Returns an MCP result with one block: `kind` is `image`, `audio` or `file`."""
    data, path = _bytes_of(given)
    mime_type = mime_type or _type_of(data, name or path)
    if kind == "file":
        return {"content": [{"type": "resource", "resource": _resource(data, mime_type, name or path)}]}
    if not mime_type.startswith(kind + "/"):
        raise ValueError(
            "`return_%s` was given %s. Name its `mime_type`, or give it to `return_file`." % (kind, mime_type)
        )
    return {"content": [{"type": kind, "data": _base64(data), "mimeType": mime_type}]}


def _bytes_of(given):
    """Returns the bytes of an image, a sound or a file, and its path if the bytes were read from a file."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given), None
    if isinstance(given, (str, os.PathLike)):
        with open(given, "rb") as file:
            return file.read(), os.fspath(given)
    if isinstance(getattr(given, "data", None), bytes):
        return given.data, None
    if hasattr(given, "getvalue"):
        return bytes(given.getvalue()), None
    # Such as a figure of matplotlib, or an image of Pillow.
    for save in ("savefig", "save"):
        if hasattr(given, save):
            buffer = io.BytesIO()
            getattr(given, save)(buffer, format="png")
            return buffer.getvalue(), None
    raise TypeError("Bytes, a path, or an image that can save itself is needed, got %s." % type(given).__name__)


def _type_of(data, name):
    for sign, mime_type in _SIGNS:
        if data.startswith(sign):
            return mime_type
    if data[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12], "application/octet-stream")
    return (name and mimetypes.guess_type(name)[0]) or "application/octet-stream"


def _resource(data, mime_type, name):
    about = {"uri": "result:///" + quote(os.path.basename(name or "file")), "mimeType": mime_type}
    if mime_type.startswith("text/") or mime_type == "application/json":
        try:
            return {**about, "text": data.decode("utf-8")}
        except UnicodeDecodeError:
            pass
    return {**about, "blob": _base64(data)}


def _base64(data):
    return base64.b64encode(data).decode("ascii")
