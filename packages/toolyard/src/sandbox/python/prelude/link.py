"""Frames between the interpreter and its thread, over one file: requests are written, answers are read."""

import json
import os

_fd = os.open("/.rpc", os.O_RDWR)


def send(op, **fields):
    os.write(_fd, json.dumps({"op": op, **fields}, separators=(",", ":")).encode("ascii"))


def receive():
    """Returns the next answer as (head, text), or None if there is none."""
    head = os.read(_fd, 4)
    if not head:
        return None
    left = int.from_bytes(head, "little")
    parts = []
    while left:
        part = os.read(_fd, min(left, 1 << 20))
        left -= len(part)
        parts.append(part)
    kind, _, text = b"".join(parts).partition(b"\n")
    return kind.decode("ascii"), text.decode("utf-8")
