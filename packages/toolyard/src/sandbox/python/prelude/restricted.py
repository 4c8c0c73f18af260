"""The built-in names of restricted code."""

import ast
import builtins
import string
import sys
import types

from . import facades, guard

_LEFT_OUT = {"breakpoint", "copyright", "credits", "license", "help", "compile", "__loader__", "__spec__", "__debug__"}
_PLAIN = object()


def names(scope):
    """`scope`: variables of the code, which `eval` and `exec` use if they get none."""
    own = {name: value for name, value in vars(builtins).items() if name not in _LEFT_OUT}
    own.update(
        {
            guard.ATTRIBUTE: _attribute,
            "__import__": _import,
            "getattr": _getattr,
            "hasattr": _hasattr,
            "setattr": _setattr,
            "delattr": _delattr,
        }
    )
    own.update({"vars": _vars, "open": _open, "compile": _compile, **_runners(scope)})
    return own


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level:
        raise ImportError("There are no modules next to the code.")
    return facades.load(name, fromlist)


def _getattr(value, name, *default):
    guard.assert_name(name)
    try:
        return _attribute(value, name) if name in guard.CHECKED else getattr(value, name)
    except AttributeError:
        if not default:
            raise
        return default[0]


def _hasattr(value, name):
    return _getattr(value, name, _PLAIN) is not _PLAIN


def _setattr(value, name, new):
    setattr(value, guard.assert_plain(name), new)


def _delattr(value, name):
    delattr(value, guard.assert_plain(name))


def _vars(*values):
    if not values:
        raise TypeError("vars() needs a value here; globals() gives the code's own variables.")
    if issubclass(type(values[0]), type):
        return {
            name: value
            for name, value in vars(values[0]).items()
            if not guard.is_refused(name) and name not in guard.CHECKED
        }
    return vars(*values)


def _attribute(value, name):
    """Returns an attribute for which the value or the arguments decide whether it may be used. The code can reach
    this function, so it refuses all other names."""
    if type(name) is not str or name not in guard.CHECKED:
        raise AttributeError(guard.refusal(name))
    if name == "__dict__":
        return _vars(value)
    found = getattr(value, name)
    if name.startswith("__"):
        return _by_name(found)
    # The method that was found decides, not the value: `super()` is not text, but its `format` is a method of text.
    if type(found) is types.BuiltinMethodType and isinstance(found.__self__, str):
        return _format_of(found.__self__, name)
    if type(found) is types.MethodDescriptorType and found.__objclass__ is str:
        return _format_of(str, name)
    return found


def _by_name(method):
    def checked(*args):
        for arg in args[:2]:
            if isinstance(arg, str):
                guard.assert_plain(arg)
        return method(*args)

    return checked


def _format_of(value, name):
    def formatted(*args, **named):
        text, rest = (args[0], args[1:]) if value is str else (value, args)
        # Converted to plain text, because a subclass could return other characters.
        text = str.__str__(text)
        if name == "format_map":
            rest, named = (), rest[0]
        for _, field, spec, _ in string.Formatter().parse(text):
            _assert_field(field)
            for _, inner, _, _ in string.Formatter().parse(spec or ""):
                _assert_field(inner)
        return str.format_map(text, named) if name == "format_map" else str.format(text, *rest, **named)

    return formatted


def _assert_field(field):
    for step in (field or "").replace("[", ".").replace("]", "").split("."):
        guard.assert_name(step)


def _open(*_, **__):
    raise PermissionError("There are no files here. Put the data into the code, or use io.StringIO.")


def _compile(*_, **__):
    raise PermissionError("compile() is not offered here. eval() and exec() take source text.")


def _runners(scope):
    def run(mode, source, given, locals):
        if not isinstance(source, str):
            raise TypeError(f"{mode}() takes source text here, got {type(source).__name__}.")
        if given is not None and type(given) is not dict:
            raise TypeError("globals must be a dict.")
        text = str(source).strip() if mode == "eval" else str(source)
        tree = guard.check(ast.parse(text, "<text>", mode), "<text>", text)
        into = scope if given is None else given
        into["__builtins__"] = scope["__builtins__"]
        return (eval if mode == "eval" else exec)(
            compile(tree, "<text>", mode, dont_inherit=True), into, *([] if locals is None else [locals])
        )

    def own_locals(depth):
        frame = sys._getframe(depth)
        return frame.f_locals if frame.f_globals is scope else None

    def checked_eval(source, globals=None, locals=None, /):
        return run("eval", source, globals, own_locals(2) if globals is None and locals is None else locals)

    def checked_exec(source, globals=None, locals=None, /):
        return run("exec", source, globals, own_locals(2) if globals is None and locals is None else locals)

    checked_eval.__name__, checked_exec.__name__ = "eval", "exec"
    return {"eval": checked_eval, "exec": checked_exec}


def streams():
    """Replaces sys.stdout and sys.stderr while restricted code runs."""
    return [facades.Stream(stream.write, stream.flush) for stream in (sys.stdout, sys.stderr)]
