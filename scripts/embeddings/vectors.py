"""`vectors.py --teacher FOLDER --texts FILE --out FILE`: writes the teacher's vectors of texts in the format in
which a hub stores vectors.

`FILE` of texts: a list in JSON. `npm run bench:search -- --model` lists the texts that it needs, and reads the
vectors.
"""

import argparse
import hashlib
import json
import os
import struct
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from teacher import Teacher

MAX_PIECES = 64


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("teacher", "texts", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    sources = json.loads(Path(__file__).with_name("sources.json").read_text())
    teacher = Teacher(arguments.teacher, sources["teacher"]["sha256"])
    texts = json.loads(arguments.texts.read_text(encoding="utf-8"))
    vectors = teacher.embed([teacher.pieces(text, MAX_PIECES) for text in texts])
    write_vectors(arguments.out, texts, vectors)


def write_vectors(path, texts, vectors):
    """Writes the header of `vector-file.ts`, then the digest and the vector of each text."""
    with path.open("wb") as file:
        file.write(b"TYV1" + struct.pack("<I", vectors.shape[1]))
        for text, vector in zip(texts, vectors, strict=True):
            file.write(hashlib.sha256(text.encode()).digest() + vector.astype("<f4").tobytes())


if __name__ == "__main__":
    main()
