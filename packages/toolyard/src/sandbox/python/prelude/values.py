"""Converts Python values to strict JSON.

Unchanged: None, bool, int, float, str, list, tuple, dict. NaN and infinities: null. Sets: lists, sorted if
possible. Dataclasses and named tuples: objects. Dates and times: ISO 8601. timedelta, Decimal, Fraction, UUID,
paths: their text. Enum members: their value. bytes: base64. Iterators, ranges, views, deques: lists. Exceptions:
"Type: message". All other values: their repr().
"""

import json
import sys

MAX_DEPTH = 200
# Size of an integer with 4300 decimal digits.
MAX_INTEGER_BITS = 14284
_FLOAT_BOUNDS = (float("-inf"), float("inf"))
_ITERABLES = {
    "generator",
    "map",
    "filter",
    "zip",
    "enumerate",
    "range",
    "reversed",
    "dict_keys",
    "dict_values",
    "dict_items",
    "deque",
    "array",
}


class TooLarge(Exception):
    pass


def to_json(value, max_bytes):
    budget = [max_bytes]
    text = json.dumps(
        plain(value, budget, "the result", [], set()), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode("utf-8")
        size = len(text)
    if size > max_bytes:
        raise TooLarge(max_bytes)
    return text


def plain(value, budget, what, path, seen):
    budget[0] -= 1
    if budget[0] < 0:
        raise TooLarge
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        budget[0] -= len(value)
        return value
    if kind is int:
        # The hub reads integers exactly up to this size. Python does not convert longer ones to text either.
        if value.bit_length() > MAX_INTEGER_BITS:
            return _text(value, budget)
        budget[0] -= value.bit_length() // 3
        return value
    if kind is float:
        return value if value == value and value not in _FLOAT_BOUNDS else None
    if id(value) in seen:
        raise ValueError(
            f"{what} contains itself at {_place(path)}, so that it cannot be written as JSON. "
            "Return a copy without the cycle."
        )
    if len(path) >= MAX_DEPTH:
        raise ValueError(f"{what} is nested deeper than {MAX_DEPTH} levels. Return something flatter.")
    seen.add(id(value))
    try:
        return _container(value, kind, budget, what, path, seen)
    finally:
        seen.discard(id(value))


def _container(value, kind, budget, what, path, seen):
    def inner(item, step):
        path.append(step)
        done = plain(item, budget, what, path, seen)
        path.pop()
        return done

    resolve = getattr(kind, "__yard_value__", None)
    if resolve is not None:
        return inner(resolve(value), ".result()")
    if isinstance(value, (str, int, float)):
        enum = sys.modules.get("enum")
        if enum is not None and isinstance(value, enum.Enum):
            return inner(value.value, ".value")
        base = str if isinstance(value, str) else int if isinstance(value, int) else float
        return inner(base.__new__(base, value), "")
    if isinstance(value, dict):
        return {_key(key): inner(item, f"[{_short(key)}]") for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {key: inner(item, f".{key}") for key, item in value._asdict().items()}
    if isinstance(value, (list, tuple)) or kind.__name__ in _ITERABLES:
        return [inner(item, f"[{index}]") for index, item in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        try:
            value = sorted(value)
        except TypeError:
            value = list(value)
        return [inner(item, f"[{index}]") for index, item in enumerate(value)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        import binascii
        return _text(binascii.b2a_base64(value, newline=False).decode("ascii"), budget)
    if hasattr(kind, "__dataclass_fields__") and not isinstance(value, type):
        return {
            name: inner(getattr(value, name, None), f".{name}")
            for name, field in kind.__dataclass_fields__.items()
            if field._field_type.name == "_FIELD"
        }
    return _other(value, kind, budget, inner)


def _other(value, kind, budget, inner):
    if _is(value, "datetime", "date", "time"):
        return value.isoformat()
    if _is(value, "datetime", "timedelta") or _is(value, "decimal", "Decimal") or _is(value, "fractions", "Fraction"):
        return str(value)
    if _is(value, "uuid", "UUID") or _is(value, "pathlib", "PurePath"):
        return str(value)
    if _is(value, "enum", "Enum"):
        return inner(value.value, ".value")
    if _is(value, "collections.abc", "Mapping"):
        return {_key(key): inner(value[key], f"[{_short(key)}]") for key in value}
    if isinstance(value, BaseException):
        return _text(f"{kind.__name__}: {value}", budget)
    return _text(value, budget)


def _is(value, module, *names):
    # If the module was never imported, no value can be an instance of its classes.
    loaded = sys.modules.get(module)
    return loaded is not None and any(isinstance(value, getattr(loaded, name)) for name in names)


def _text(value, budget):
    try:
        text = value if type(value) is str else repr(value)
    except RecursionError:
        text = f"<{type(value).__name__} nested too deep to show>"
    except Exception as error:
        text = f"<{type(value).__name__}: its repr() failed with {type(error).__name__}>"
    budget[0] -= len(text)
    if budget[0] < 0:
        raise TooLarge
    return text


def _key(key):
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return json.dumps(key)
    value = getattr(key, "value", key) if _is(key, "enum", "Enum") else key
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _short(key):
    text = repr(key)
    return text if len(text) <= 40 else text[:37] + "..."


def _place(path):
    shown = [step for step in path if step]
    return "".join(shown[:12]) + ("..." if len(shown) > 12 else "") or "its top"
