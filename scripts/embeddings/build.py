"""`build.py --teacher FOLDER --mirrors FOLDER --benchmark FOLDER --out FILE`: builds the table of token vectors.
See README.md in this folder. `--without SOURCE` excludes one source of queries, and the servers of its tools, from
training.
"""

import argparse
import collections
import hashlib
import json
import os
from pathlib import Path

# One thread, so that sums are computed in a fixed order.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

from student import Student, Targets, bags, begin, turned
from table_file import write_table
from teacher import Teacher
from texts import read_texts, read_tools
from wordpiece import Pieces, words

SEED = 20261123
ROWS = 31_000
ADDED_FOREIGN = 1_200
TEACHER_TEXTS = 3_000
TEACHER_WORDS = 6_000
TEACHER_PIECES = 20
STUDENT_PIECES = 48
# Rarity of an added word, because its frequency in the teacher's texts is unknown.
ADDED_RANK = 20_000
RIDGE = 1.0


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("teacher", "mirrors", "benchmark", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where the teacher's answers are kept between two runs")
    parser.add_argument("--without", default="")
    return parser.parse_args()


def vocabulary_of(teacher, texts):
    """Returns the teacher's pieces of Latin letters and digits, followed by the most frequent other words."""
    kept = [(piece, rank) for rank, piece in enumerate(teacher.vocabulary) if is_latin(piece.removeprefix("##"))]
    known = {piece for piece, _ in kept}
    counts = [(ADDED_FOREIGN, counted(said)) for said in texts.foreign.values()]
    counts.append((ROWS, counted(text for pair in texts.pairs for text in pair[:2])))
    for most, count in counts:
        fresh = [(word, n) for word, n in count.items() if word not in known and is_latin(word) and n > 2]
        fresh.sort(key=lambda one: (-one[1], one[0]))
        for word, _ in fresh[: min(most, ROWS - len(kept))]:
            known.add(word)
            kept.append((word, ADDED_RANK))
    return [piece for piece, _ in kept], np.array([rank for _, rank in kept])


def is_latin(piece):
    return piece != "" and piece.isascii() and piece.isalnum() and piece == piece.lower()


def counted(said):
    return collections.Counter(word for text in said for word in words(text) if len(word) < 24 and not word.isdigit())


def ask_teacher(teacher, lists, cache):
    key = hashlib.sha256(json.dumps(lists).encode()).hexdigest()[:16]
    path = cache / f"{key}.npy" if cache else None
    if path and path.exists():
        return np.load(path)
    vectors = teacher.embed(lists)
    if path:
        cache.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors)
    return vectors


def main():
    arguments = read_arguments()
    sources = json.loads(Path(__file__).with_name("sources.json").read_text())
    teacher = Teacher(arguments.teacher, sources["teacher"]["sha256"])
    texts = read_texts(sources["texts"], arguments.mirrors)
    read_tools(texts, arguments.benchmark, arguments.without)
    vocabulary, ranks = vocabulary_of(teacher, texts)
    print(f"{len(texts.pairs)} pairs, {len(vocabulary)} rows", flush=True)

    pieces = Pieces(vocabulary)
    known = {}
    groups = {}
    number = lambda numbers, text: numbers.setdefault(text, len(numbers))
    pairs = np.array(
        [(number(known, short), number(known, long), number(groups, group)) for short, long, group in texts.pairs]
    )
    matrix = bags([pieces.of_text(text, STUDENT_PIECES) for text in known], len(vocabulary))

    all_texts = list(known)
    chosen = chosen_texts(pairs, all_texts)
    sentences = ask_teacher(teacher, [teacher.pieces(all_texts[at], TEACHER_PIECES) for at in chosen], arguments.cache)
    tokens = token_vectors(teacher, vocabulary, matrix, arguments.cache)
    table, projected = begin(tokens, sentences, ranks)
    rows = np.full(len(all_texts), -1)
    rows[chosen] = np.arange(len(chosen))
    trained = Student(table, SEED).train(pairs, matrix, Targets(rows, projected))
    digest = write_table(arguments.out, vocabulary, turned(trained, matrix))
    print(f"{arguments.out}: {arguments.out.stat().st_size} bytes, SHA-256 {digest}")


def chosen_texts(pairs, all_texts):
    """Returns a sample of the long texts. Equal texts result in an equal sample."""
    longs = sorted(set(pairs[:, 1].tolist()), key=lambda at: hashlib.sha256(all_texts[at].encode()).digest())
    return np.array([at for at in longs if all_texts[at].isascii()][:TEACHER_TEXTS])


def token_vectors(teacher, vocabulary, matrix, cache):
    """Returns vectors of pieces: from the teacher for the most frequent pieces, estimated from its first layer for
    the others."""
    lists = [teacher_pieces(teacher, piece) for piece in vocabulary]
    inputs = np.array([teacher.input_of(one) for one in lists])
    used = np.asarray(matrix.sum(0)).ravel()
    asked = np.sort(np.argsort(-used, kind="stable")[:TEACHER_WORDS])
    answers = ask_teacher(teacher, [lists[at] for at in asked], cache)
    known = np.hstack([inputs[asked], np.ones((len(asked), 1), np.float32)])
    solved = np.linalg.solve(known.T @ known + RIDGE * np.eye(known.shape[1]), known.T @ answers)
    vectors = np.hstack([inputs, np.ones((len(inputs), 1), np.float32)]) @ solved
    vectors[asked] = answers
    return vectors.astype(np.float32)


def teacher_pieces(teacher, piece):
    return [teacher.numbers[piece]] if piece.startswith("##") else teacher.pieces(piece, TEACHER_PIECES)


if __name__ == "__main__":
    main()
