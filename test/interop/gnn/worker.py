"""Runs scripts one after another, as `python SCRIPT ARGUMENT…` would, in one process: python worker.py

Importing JAX and compiling the same operations takes most of the time, so the programs of a target share both.
Each line of standard input is `{"argv": [SCRIPT, ARGUMENT…]}`; the answer to each is a line with the exit code, the
output and the error output. A script that fails is answered like any other, and the next one runs.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback


def run(argv):
    """Runs one script in a separate namespace, with its folder first in the import path."""
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
    """Returns the exit code of `sys.exit(code)`: 0 for None; 1 for a text, which is printed."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    # Output below the level of Python, such as that of started programs, must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf8")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line)["argv"])), file=answers, flush=True)
