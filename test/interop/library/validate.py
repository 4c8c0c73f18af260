"""Validates the results of a client with the models of Library RAG: `validate.py FOLDER`, the report on standard input.

FOLDER is its `generations/library_rag`. Only the file `mcp_tools/schemas.py` in it is read.
"""

import importlib.util
import json
import sys

spec = importlib.util.spec_from_file_location("schemas", f"{sys.argv[1]}/mcp_tools/schemas.py")
schemas = importlib.util.module_from_spec(spec)
spec.loader.exec_module(schemas)

checked = 0
for row in json.load(sys.stdin)["told"]:
    value = row["value"]
    if not isinstance(value, dict) or "failed" in value:
        continue
    name = "".join(part.title() for part in row["tool"].split("_"))
    arguments = getattr(schemas, f"{name}Input").model_validate(row["arguments"])
    told = getattr(schemas, f"{name}Output").model_validate(value)
    assert told and arguments
    checked += 1
print(checked)
