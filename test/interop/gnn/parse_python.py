"""Ends with 1 where a file is no Python: python parse_python.py FILE"""

import ast
import sys

ast.parse(open(sys.argv[1], encoding="utf8").read())
