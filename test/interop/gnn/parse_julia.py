"""Exits with 1 if a file is not valid Julia: python parse_julia.py FILE"""

import sys

import tree_sitter_julia
from tree_sitter import Language, Parser

text = open(sys.argv[1], "rb").read()
tree = Parser(Language(tree_sitter_julia.language())).parse(text)


def wrong(node):
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        yield from wrong(child)


places = [f"line {node.start_point[0] + 1}: {node.text[:80]!r}" for node in wrong(tree.root_node)]
print("\n".join(places))
sys.exit(1 if places else 0)
