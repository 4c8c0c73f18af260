"""Exits with 1 if a file is not valid Python: python parse_python.py FILE"""

import ast
import sys

ast.parse(open(sys.argv[1], encoding="utf8").read())
