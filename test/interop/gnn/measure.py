"""Prints the bytes of a NumPy program's tensors and the operations of one step: python measure.py PROGRAM"""

import importlib.util
import json
import sys

import numpy as np

spec = importlib.util.spec_from_file_location("program", sys.argv[1])
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
count = 0


def counting(terms, *operands):
    """Counts one operation for each operand of each term."""
    global count
    sizes = {}
    for letters, operand in zip(terms.split("->")[0].split(","), operands):
        sizes.update(zip(letters, operand.shape))
    count += int(np.prod(list(sizes.values()))) * len(operands)
    return np.einsum(terms, *operands)


def counted(function):
    """Counts one operation for each number."""

    def count_and_do(values):
        global count
        count += int(np.size(values))
        return function(values)

    return count_and_do


program.einsum = counting
program.softmax, program.logarithm = counted(program.softmax), counted(program.logarithm)
size = 0
for agent in program.AGENTS:
    tensors = [*agent["A"], *agent["B"], *agent["C"], *agent["D"], agent["E"], *agent["counts_A"], *agent["counts_B"]]
    tensors += agent["counts_D"]
    size += sum(tensor.nbytes for tensor in tensors if tensor is not None)
    mind, before = program.Mind(agent), count
    # Messages pass over a whole window only after that many observations.
    for _ in range(program.WINDOW - 1):
        mind.see([0] * len(agent["A"]))
        mind.act([0] * len(agent["B"]))
    count = before
    mind.see([0] * len(agent["A"]))
    mind.plan()
print(json.dumps({"bytes": size, "operations": count}))
