"""Calls that each client makes to the library, and their results, as one line of JSON."""

import json
import sys

NINE = [
    "ping",
    "parse_pdf",
    "search_chunks",
    "search_summaries",
    "get_document",
    "list_documents",
    "get_chunks_by_document",
    "filter_by_author",
    "delete_document",
]
SOURCE = {"source_id": "laws"}
CALLS = [
    ("ping", {}),
    ("parse_pdf", {"pdf_path": "laws.pdf"}),
    ("parse_pdf", {"pdf_path": "clear.md"}),
    ("parse_pdf", {"pdf_path": "none.pdf"}),
    ("search_chunks", {"query": "What is nominalism?", "limit": 5, "author_filter": "Charles Sanders Peirce"}),
    ("search_chunks", {"query": "law of nature", "min_similarity": 0, "language_filter": "en"}),
    ("search_chunks", {"query": "law of nature", "author_filter": "nobody at all"}),
    ("search_chunks", {"query": ""}),
    ("search_chunks", {"query": "a", "limit": 501}),
    ("search_summaries", {"query": "law", "min_level": 1, "max_level": 5}),
    ("get_document", {**SOURCE, "include_chunks": True, "chunk_limit": 50}),
    ("get_document", {"source_id": "none"}),
    ("list_documents", {"limit": 50, "offset": 0}),
    ("get_chunks_by_document", {**SOURCE, "limit": 50, "offset": 0}),
    ("filter_by_author", {"author": "Writer", "include_chunk_counts": True}),
    ("filter_by_author", {"author": "Writer", "include_chunk_counts": False}),
    ("delete_document", SOURCE),
    ("delete_document", {**SOURCE, "confirm": True}),
    ("list_documents", {}),
]


def unlisted(names):
    """Returns the unlisted tools of the nine. `ping` is accepted but not listed, because the protocol has a method
    of that name."""
    return [name for name in NINE if name not in names and name != "ping"]


def value_of(text, structured):
    """Returns the value of a result, whose two forms must be equal."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if structured is not None and structured != value and structured != {"result": value}:
        return {"differs": [value, structured]}
    return value


async def ask_all(call):
    """Makes all calls. `call` returns a value, or `{"failed": ...}`."""
    told = []
    for name, arguments in CALLS:
        told.append({"tool": name, "arguments": arguments, "value": await call(name, arguments)})
    return told


def report(names, told):
    json.dump({"unlisted": unlisted(names), "told": told}, sys.stdout)
