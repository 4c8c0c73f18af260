"""Reports which tool files cannot be offered. stdin: a JSON list of paths; stdout: a JSON object with the reason
for each path."""

import ast
import json
import sys

NAME = "execute"


def binds(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == NAME
    if isinstance(node, ast.Name):
        return node.id == NAME and isinstance(node.ctx, ast.Store)
    if isinstance(node, ast.alias):
        return (node.asname or node.name) in (NAME, "*")
    # The name may be a text, as in an assignment to `globals()["execute"]`.
    return isinstance(node, ast.Constant) and node.value == NAME


def reason(path):
    with open(path, "rb") as file:
        source = file.read()
    try:
        # The file is compiled but not run, because some errors are found only by the compiler.
        compile(source, path, "exec", dont_inherit=True)
        tree = ast.parse(source)
    except SyntaxError as error:
        return "line %s: %s: %s" % (error.lineno, type(error).__name__, error.msg)
    except ValueError as error:
        return str(error)
    return None if any(binds(node) for node in ast.walk(tree)) else "it has no function `execute(params)`"


def main():
    found = {}
    for path in json.loads(sys.stdin.buffer.read().decode("utf-8")):
        try:
            why = reason(path)
        except Exception:
            # The file was removed, or exceeds a limit of the compiler. A call reports that.
            continue
        if why is not None:
            found[path] = why
    sys.stdout.write(json.dumps(found))


main()
