"""The file of the table: `TYT1`, rows and dimensions, the vocabulary, one scale per row, and the rows in int8."""

import hashlib
import struct

import numpy as np

MAX_BYTES = 4_500_000


def write_table(path, vocabulary, table):
    words = "\n".join(vocabulary).encode()
    words += b"\n" * (-len(words) % 4)
    scales = (np.abs(table).max(1) / 127).astype("<f4")
    rows = np.rint(table / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)
    head = b"TYT1" + struct.pack("<III", *table.shape, len(words))
    data = head + words + scales.tobytes() + rows.tobytes()
    if len(data) > MAX_BYTES:
        raise SystemExit(f"The table would have {len(data)} bytes; {MAX_BYTES} is the bound.")
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()
