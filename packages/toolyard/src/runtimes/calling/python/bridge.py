"""Runs one module file `mcp.py` for the hub until the module is removed. Arguments: the file and its root folder."""

import os
import sys

# PYTHONPATH contains this folder. As the folder of the program, it would precede the module's folder, so it is removed.
sys.path.pop(0)

from toolyard import _bridge  # noqa: E402

_bridge.serve(sys.argv[1], sys.argv[2])
os._exit(0)
