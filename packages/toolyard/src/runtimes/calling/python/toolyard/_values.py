"""Converts Python values to JSON lines.

A pydantic model, a dataclass, an attrs object and an Enum are converted to their data. Other values that JSON
cannot express become text; NaN and infinity become null.
"""

import dataclasses
import enum
import json


def to_line(message):
    return (json.dumps(_clean(message), ensure_ascii=False, default=_plain, separators=(",", ":")) + "\n").encode(
        "utf-8", "replace"
    )


def _clean(value):
    if isinstance(value, enum.Enum):
        return _clean(value.value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {_key(key): _clean(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(member) for member in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    data = _data_of(value)
    return value if data is value else _clean(data)


def _key(key):
    return str(key.value if isinstance(key, enum.Enum) else key)


def _data_of(value):
    """Returns the members of an object of a data class; any other object itself."""
    if isinstance(value, type):
        return value
    # pydantic 2, then pydantic 1, whose models have a method of that name.
    if callable(getattr(value, "model_dump", None)):
        return _model_data(value)
    if hasattr(value, "__fields__") and callable(getattr(value, "dict", None)):
        return value.dict()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(type(value), "__attrs_attrs__"):
        return {attribute.name: getattr(value, attribute.name) for attribute in type(value).__attrs_attrs__}
    return value


def _model_data(model):
    try:
        return model.model_dump(mode="json")
    except TypeError:
        return model.model_dump()


def _plain(value):
    if isinstance(value, (set, frozenset)):
        return [_clean(member) for member in sorted(value, key=repr)]
    if hasattr(value, "tolist"):
        return _clean(value.tolist())
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    return str(value)
