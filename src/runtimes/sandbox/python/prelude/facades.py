"""The modules that restricted code can import: copies of their public names, so that no module leads to another one."""

import ast
import functools
import importlib
import operator
import string
import sys
import types

from . import guard

_WHOLE = """
    abc array base64 binascii bisect calendar cmath collections collections.abc colorsys contextlib copy csv dataclasses datetime decimal difflib enum
    fractions functools graphlib hashlib heapq hmac html itertools json keyword math numbers operator pprint random re secrets statistics string
    struct textwrap time typing unicodedata urllib.parse uuid zlib zoneinfo
""".split()
_PARTS = {
    "ast": ["literal_eval"],
    "asyncio": """run gather sleep wait_for timeout create_task Queue Event Lock Semaphore TaskGroup as_completed wait CancelledError TimeoutError
        iscoroutine iscoroutinefunction""".split(),
    "io": ["StringIO", "BytesIO"],
    "sys": """version version_info maxsize maxunicode float_info int_info byteorder platform getsizeof getrecursionlimit setrecursionlimit intern
        exit""".split(),
    "traceback": ["format_exc", "print_exc", "format_exception_only"],
    "types": ["SimpleNamespace", "MappingProxyType", "GeneratorType", "NoneType"],
    "__future__": ["annotations"],
}
_LEFT_OUT = {
    "base64": {"main", "test", "encode", "decode"},
    "calendar": {"main"},
    "functools": {"singledispatch", "singledispatchmethod"},
    "hashlib": {"file_digest"},
    "typing": {"get_type_hints", "ForwardRef", "evaluate_forward_ref"},
    "uuid": {"main", "getnode"},
    "zoneinfo": {"reset_tzpath", "TZPATH"},
    "random": {"main"},
}
NAMES = sorted({*_WHOLE, *_PARTS} - {"__future__"})
_made = {}


def load(name, fromlist=()):
    """What `import name` binds: the module itself, or the first of its steps where nothing is taken from it."""
    if name not in _WHOLE and name not in _PARTS and not any(known.startswith(f"{name}.") for known in _WHOLE):
        raise ModuleNotFoundError(f"{name!r} cannot be imported here. These can: {', '.join(NAMES)}.", name=name)
    steps = name.split(".")
    chain = [_make(".".join(steps[: count + 1])) for count in range(len(steps))]
    for parent, step, child in zip(chain, steps[1:], chain[1:]):
        parent.__dict__[step] = child
    return chain[-1] if fromlist else chain[0]


def _make(name):
    if name not in _made:
        _made[name] = _facade(name, importlib.import_module(name))
    return _made[name]


def _facade(name, module):
    facade = types.ModuleType(name, module.__doc__)
    if name == "dataclasses":
        module.exec = _checked_exec
    public = _PARTS.get(name) or (_public(name, module) if name in _WHOLE else [])
    for each in public:
        value = getattr(module, each)
        if not isinstance(value, types.ModuleType):
            facade.__dict__[each] = value
    facade.__dict__.update(_REPLACED.get(name, {}))
    facade.__dict__["__all__"] = [each for each in facade.__dict__ if not each.startswith("_")]
    return facade


def _public(name, module):
    listed = getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")]
    also = {"collections": ["abc"], "string": ["Formatter"]}.get(name, [])
    return [each for each in {*listed, *also} if each not in _LEFT_OUT.get(name, ())]


def _attrgetter(*names):
    for name in names:
        for step in name.split("."):
            guard.assert_plain(step)
    return operator.attrgetter(*names)


def _methodcaller(name, /, *args, **named):
    guard.assert_plain(name)
    return operator.methodcaller(name, *args, **named)


def _update_wrapper(wrapper, wrapped):
    return functools.update_wrapper(wrapper, wrapped)


def _wraps(wrapped):
    return lambda wrapper: functools.update_wrapper(wrapper, wrapped)


class Formatter(string.Formatter):
    def get_field(self, field_name, args, kwargs):
        for step in field_name.replace("[", ".").replace("]", "").split("."):
            guard.assert_name(step)
        return super().get_field(field_name, args, kwargs)


def _checked_exec(text, namespace, into=None):
    """`exec` of the module dataclasses, which writes names of fields into source text: only what it writes itself may be run."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _NEVER_GENERATED) or (isinstance(node, ast.Call) and not _is_generated(node.func)):
            raise TypeError("The names of a dataclass's fields must be identifiers.")
    exec(text, namespace, into)


_NEVER_GENERATED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Import, ast.ImportFrom, ast.Subscript)


def _is_generated(called):
    if isinstance(called, ast.Name):
        return called.id in ("super", "hash", "type", "FrozenInstanceError") or called.id.startswith(("_dflt_", "__dataclass_dflt_"))
    return isinstance(called, ast.Attribute) and called.attr in ("__setattr__", "__delattr__", "__post_init__")


class Stream:
    """Where print() goes. Nothing leads from here to the stream itself."""

    def __init__(self, write, flush):
        own = {"write": write, "flush": flush}
        self._use = lambda name, *args: own[name](*args)

    encoding = "utf-8"

    def write(self, text):
        return self._use("write", text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        self._use("flush")

    def isatty(self):
        return False


def _sys_attribute(name):
    if name in ("stdout", "stderr"):
        return getattr(sys, name)
    if name == "argv":
        return ["<code>"]
    raise AttributeError(f"'sys.{name}' is not there: only what says something about numbers, sizes and this Python is.")


_REPLACED = {
    "operator": {"attrgetter": _attrgetter, "methodcaller": _methodcaller},
    "functools": {"wraps": _wraps, "update_wrapper": _update_wrapper},
    "string": {"Formatter": Formatter},
    "sys": {"__getattr__": _sys_attribute},
}
