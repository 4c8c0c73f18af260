"""Runs one module file `mcp.py` for the hub, as long as the module is there. Arguments: the file and its root
folder."""

import os
import sys

# This folder is on the path by the environment; as the program's own it would come before the module's.
sys.path.pop(0)

from toolyard import _bridge  # noqa: E402

_bridge.serve(sys.argv[1], sys.argv[2])
os._exit(0)
