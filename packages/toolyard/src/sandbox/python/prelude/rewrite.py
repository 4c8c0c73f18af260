"""Converts code as models write it to valid Python: `return` at the top level ends the code, and the last
expression is its result."""

import ast

RETURNED = "__yard_return__"
RESULT = "__yard_result__"
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Returned(BaseException):
    def __init__(self, value=None):
        super().__init__()
        self.value = value


class _TopLevel(ast.NodeTransformer):
    """Replaces `return` at the top level only. Functions and classes keep theirs."""

    def generic_visit(self, node):
        return node if isinstance(node, _OWN_SCOPE) else super().generic_visit(node)

    def visit_Return(self, node):
        call = ast.Call(ast.Name(RETURNED, ast.Load()), [node.value] if node.value else [], [])
        return ast.copy_location(ast.Raise(call, None), node)

    def visit_Try(self, node):
        has_return = any(_returns(part) for part in node.body)
        node = super().generic_visit(node)
        # `except:` must not catch a `return`.
        if has_return and node.handlers:
            node.handlers.insert(0, ast.ExceptHandler(ast.Name(RETURNED, ast.Load()), None, [ast.Raise(None, None)]))
        return node


def _returns(node):
    if isinstance(node, ast.Return):
        return True
    return not isinstance(node, _OWN_SCOPE) and any(_returns(child) for child in ast.iter_child_nodes(node))


def rewrite(tree):
    tree = _TopLevel().visit(tree)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body[-1]
        tree.body[-1] = ast.copy_location(ast.Assign([ast.Name(RESULT, ast.Store())], last.value), last)
    return ast.fix_missing_locations(tree)
