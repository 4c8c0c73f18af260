"""How Python values become JSON lines: what JSON cannot hold is shown as text, NaN and infinity become null."""

import json


def to_line(message):
    return (json.dumps(_clean(message), ensure_ascii=False, default=_plain, separators=(",", ":")) + "\n").encode(
        "utf-8", "replace"
    )


def _clean(value):
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {str(key): _clean(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(member) for member in value]
    return value


def _plain(value):
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    return str(value)
