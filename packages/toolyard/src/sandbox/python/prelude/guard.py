"""Rules for restricted code. Its syntax tree is checked before it runs; names that it builds while it runs are
checked then.

Attributes that lead from any value to the internals of the interpreter are refused. Methods with such names may be
defined, and those that do no more than an operator may be used. The isolation of the sandbox does not depend on
these rules, which apply inside it.
"""

import ast

ATTRIBUTE = "__yard_attribute__"
_OWN = "__yard_"
_NAMES = {"__builtins__", "__loader__", "__spec__", "__package__", "__cached__"}
_OPERATORS = """
    init new post_init repr str bytes format name qualname doc module class version all slots match_args annotations eq
    ne lt le gt ge hash bool len length_hint iter next reversed contains getitem setitem delitem missing call enter exit
    aenter aexit aiter anext await get set delete set_name getattr init_subclass class_getitem add sub mul truediv
    floordiv mod divmod pow matmul lshift rshift and or xor neg pos abs invert int float complex index round trunc floor
    ceil copy deepcopy cause context notes suppress_context wrapped instancecheck subclasscheck del sizeof total fspath
""".split()
_ALLOWED = {f"__{kind}{name}__" for name in _OPERATORS for kind in ("", "r", "i")} | {"__exit__"}
# Names that are checked at each use, because the arguments or the value decide whether they may be used.
CHECKED = {"format", "format_map", "__dict__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__"}
_CHECKED_INNER = {name for name in CHECKED if name.startswith("__")}
_INSIDES = {
    "gi_frame",
    "gi_code",
    "gi_yieldfrom",
    "cr_frame",
    "cr_code",
    "cr_await",
    "cr_origin",
    "ag_frame",
    "ag_code",
    "ag_await",
    "f_back",
    "f_builtins",
    "f_code",
    "f_globals",
    "f_locals",
    "f_trace",
    "f_generator",
    "tb_frame",
    "tb_next",
    "tb_lasti",
    "co_code",
    "co_consts",
    "co_names",
    "co_varnames",
    "_evaluate",
    "_convert_",
    "get_stack",
    "mro",
}
_HINT = "Inner attributes of Python cannot be used here; ordinary attributes, operators and methods can."


def is_refused(name):
    if name in _INSIDES or name.startswith(_OWN):
        return True
    return name.startswith("__") and name.endswith("__") and name not in _ALLOWED and name not in CHECKED


def refusal(name):
    return f"{name!r} is not allowed. {_HINT}"


def assert_name(name):
    """Checks a name that the code built. It must be exactly text, because a subclass could behave differently."""
    if type(name) is not str:
        raise TypeError(f"An attribute's name must be text, got {type(name).__name__}.")
    if is_refused(name):
        raise AttributeError(refusal(name))
    return name


def assert_plain(name):
    """Like `assert_name`, for uses that are not checked again."""
    if assert_name(name) in CHECKED:
        raise AttributeError(refusal(name))
    return name


def check(tree, filename, code):
    for node in ast.walk(tree):
        for name in _names(node):
            if _is_refused_in(node, name):
                raise SyntaxError(
                    refusal(name),
                    (filename, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, _line(code, node)),
                )
    return ast.fix_missing_locations(_Checked().visit(tree))


def _is_refused_in(node, name):
    if isinstance(node, ast.Attribute):
        # Names that are checked when they are read may not be written.
        return is_refused(name) or (name in _CHECKED_INNER and not isinstance(node.ctx, ast.Load))
    if isinstance(node, ast.MatchClass):
        return is_refused(name) or name in CHECKED
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return name in _NAMES or name.startswith(_OWN) or name in ("__dict__", "__getattribute__")
    return name in _NAMES or name.startswith(_OWN)


def _line(code, node):
    lines = code.splitlines()
    number = getattr(node, "lineno", 1)
    return lines[number - 1] if number <= len(lines) else ""


def _names(node):
    if isinstance(node, ast.Constant):
        return
    for _, value in ast.iter_fields(node):
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


class _Checked(ast.NodeTransformer):
    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr not in CHECKED or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(
            ast.Call(ast.Name(ATTRIBUTE, ast.Load()), [node.value, ast.Constant(node.attr)], []), node
        )
