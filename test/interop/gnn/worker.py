"""Runs scripts one after another, as `python SCRIPT ARGUMENT…` would, in one process: python worker.py

What takes longest is importing JAX and having it compile the same operations again, so programs of a target share both.
Each line of standard input is `{"argv": [SCRIPT, ARGUMENT…]}`; each is answered by a line with the exit code, what was
printed and what was said of errors. A script that fails is answered like any other, and the next one runs.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback


def run(argv):
    """One script in a namespace of its own, with its folder first among those that are imported from."""
    code, output, errors = 0, io.StringIO(), io.StringIO()
    path, variables = list(sys.path), dict(os.environ)
    sys.argv, sys.path = argv, [os.path.dirname(argv[0]), *path]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                runpy.run_path(argv[0], run_name="__main__")
            except SystemExit as end:
                code = ended_with(end.code)
            except BaseException:
                code = 1
                traceback.print_exc()
    finally:
        sys.path = path
        os.environ.clear()
        os.environ.update(variables)
    return {"code": code, "output": output.getvalue(), "errors": errors.getvalue()}


def ended_with(code):
    """The exit code of `sys.exit(code)`: none is 0, and a text is printed and is 1."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    # Whatever writes below Python, as programs do that are started, must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf8")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line)["argv"])), file=answers, flush=True)
