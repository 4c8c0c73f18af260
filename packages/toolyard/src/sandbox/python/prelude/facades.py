"""The modules that restricted code can import: copies of their public names, so that no module gives access to
another one."""

import ast
import contextlib
import functools
import importlib
import operator
import string
import sys
import types

from . import guard

_WHOLE = """
    abc array base64 binascii bisect calendar cmath collections collections.abc colorsys contextlib copy csv dataclasses
    datetime decimal difflib enum fractions functools graphlib hashlib heapq hmac html itertools json keyword math
    numbers operator pprint random re secrets statistics string struct textwrap time typing unicodedata urllib.parse
    uuid zlib zoneinfo
""".split()
_PARTS = {
    "ast": ["literal_eval"],
    "asyncio": """run gather sleep wait_for timeout create_task Queue Event Lock Semaphore TaskGroup as_completed wait
    CancelledError TimeoutError
        iscoroutine iscoroutinefunction""".split(),
    "io": ["StringIO", "BytesIO"],
    "sys": """version version_info maxsize maxunicode float_info int_info byteorder platform getsizeof getrecursionlimit
    setrecursionlimit intern
        exit""".split(),
    "traceback": ["format_exc", "print_exc", "format_exception_only"],
    "types": ["SimpleNamespace", "MappingProxyType", "GeneratorType", "NoneType"],
    "__future__": ["annotations"],
}
_LEFT_OUT = {
    "base64": {"main", "test", "encode", "decode"},
    "calendar": {"main"},
    "contextlib": {"chdir", "redirect_stdout", "redirect_stderr"},
    "enum": {"global_enum"},
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
    """Returns the module that `import name` binds: the module itself, or the first part of its name if nothing is
    imported from it."""
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
    # Through fields, which the code can rename, these functions access attributes with names that the code chose.
    if name in ("dataclasses", "pprint"):
        module.getattr = _field_value
    if name == "dataclasses":
        module.exec = _checked_exec
    if name == "string":
        module.Formatter.get_field = _get_field
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


_plain_field = string.Formatter.get_field


def _get_field(self, field_name, args, kwargs):
    """Replaces the method of the class itself, because a subclass could reach the original with `super`."""
    for step in field_name.replace("[", ".").replace("]", "").split("."):
        guard.assert_plain(step)
    return _plain_field(self, field_name, args, kwargs)


def _field_value(value, name, *default):
    if type(name) is not str or (
        guard.is_refused(name) and not name.startswith("__dataclass_") and name != "__wrapped__"
    ):
        raise AttributeError(guard.refusal(name))
    return getattr(value, name, *default)


def _redirect(stream):
    @contextlib.contextmanager
    def redirect(target):
        before = getattr(sys, stream)
        setattr(sys, stream, target)
        try:
            yield target
        finally:
            setattr(sys, stream, before)

    return redirect


def _checked_exec(text, namespace, into=None):
    """Replaces `exec` of the module dataclasses, which writes names of fields into source text. Runs only text that
    the module itself generates."""
    if "__builtins__" not in namespace:
        raise TypeError("A dataclass's module has no built-in names.")
    if not _is_generated(ast.parse(text)):
        raise TypeError("The names of a dataclass's fields must be identifiers.")
    exec(text, namespace, into)


_NEVER_GENERATED = (
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.NamedExpr,
    ast.Import,
    ast.ImportFrom,
    ast.Subscript,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.With,
    ast.Try,
    ast.Await,
    ast.Yield,
    ast.YieldFrom,
)
_GENERATED_NAMES = {"super", "hash", "type", "NotImplemented"}
_GENERATED_METHODS = ("__setattr__", "__delattr__", "__post_init__")


def _is_generated(tree):
    """Returns whether the text is a function that creates methods and returns them, and contains almost nothing else.
    CPython 3.13 creates all methods of a class in one text, and returns a tuple; older versions create one."""
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return False
    maker = tree.body[0]
    *methods, end = maker.body
    if not isinstance(end, ast.Return) or not all(isinstance(method, ast.FunctionDef) for method in methods):
        return False
    returned = end.value.elts if isinstance(end.value, ast.Tuple) else [end.value]
    if [getattr(node, "id", None) for node in returned] != [method.name for method in methods]:
        return False
    return _is_generated_maker(maker) and all(_is_generated_method(method, maker.args.args) for method in methods)


_MAKER_ARGUMENTS = {"cls", "FrozenInstanceError", "MISSING", "_HAS_DEFAULT_FACTORY"}


def _is_generated_maker(maker):
    """Returns whether the outer function has only arguments that the module passes itself. A name of a field becomes
    a part of an argument's name, so a name with other characters could add defaults or a return annotation, which
    Python evaluates."""
    args = maker.args
    others = [args.posonlyargs, args.kwonlyargs, args.vararg, args.kwarg, args.defaults, args.kw_defaults]
    if any(others) or maker.returns or maker.decorator_list or getattr(maker, "type_params", None):
        return False
    return all(_is_own_name(arg.arg) and arg.annotation is None for arg in args.args)


def _is_own_name(name):
    if name.startswith(("__dataclass_", "__dataclasses_")):
        return name.endswith("__") or name == "__dataclasses_recursive_repr"
    return name in _MAKER_ARGUMENTS


def _is_generated_method(method, outer):
    if getattr(method, "type_params", None):
        return False
    given = [*outer, *_arguments(method)]
    outside = [*method.args.defaults, *method.args.kw_defaults, method.returns, *map(_decorator, method.decorator_list)]
    if not _has_given_names(outside, given):
        return False
    names = {node.arg for node in given} | _GENERATED_NAMES
    return all(_may_be_generated(node, names) for line in method.body for node in ast.walk(line))


def _arguments(function):
    return [node for node in ast.walk(function.args) if isinstance(node, ast.arg)]


def _decorator(node):
    """Returns the called function: the module decorates with `@__dataclasses_recursive_repr()` only."""
    return node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else node


def _has_given_names(nodes, arguments):
    """Returns whether the nodes and the annotations of the arguments are names that the module passes itself."""
    return all(
        node is None or (isinstance(node, ast.Name) and node.id.startswith(("__dataclass_", "__dataclasses_")))
        for node in [*nodes, *(argument.annotation for argument in arguments)]
    )


def _may_be_generated(node, names):
    if isinstance(node, ast.Call):
        called = node.func
        known = ("super", "hash", "type", "FrozenInstanceError")
        return (
            (called.id in known or called.id.startswith("__dataclass_dflt_"))
            if isinstance(called, ast.Name)
            else getattr(called, "attr", None) in _GENERATED_METHODS
        )
    if isinstance(node, ast.Attribute):
        return node.attr in _GENERATED_METHODS or not (guard.is_refused(node.attr) or node.attr in guard.CHECKED)
    if isinstance(node, ast.Name):
        return node.id in names
    return not isinstance(node, _NEVER_GENERATED)


class Stream:
    """Target of print(). It gives no access to the stream itself."""

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
    raise AttributeError(
        f"'sys.{name}' is not there: only what says something about numbers, sizes and this Python is."
    )


_REPLACED = {
    "operator": {"attrgetter": _attrgetter, "methodcaller": _methodcaller},
    "functools": {"wraps": _wraps, "update_wrapper": _update_wrapper},
    "contextlib": {"redirect_stdout": _redirect("stdout"), "redirect_stderr": _redirect("stderr")},
    "sys": {"__getattr__": _sys_attribute},
}
