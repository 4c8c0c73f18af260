"""CPU in milliseconds that the public project's parser takes for one file: `gnn_parse.py SOURCE FILE`."""

import logging
import sys
import time

sys.path.insert(0, sys.argv[1])
logging.disable(logging.CRITICAL)

from gnn.parsers.markdown_parser import MarkdownGNNParser  # noqa: E402

with open(sys.argv[2], encoding="utf-8") as file:
    text = file.read()
start = time.process_time()
MarkdownGNNParser().parse_string(text)
print(f"ms {(time.process_time() - start) * 1000:.0f}")
