"""all-MiniLM-L6-v2 in NumPy: texts to unit vectors of 384 numbers."""

import hashlib
import json
import struct
import unicodedata

import numpy as np
from scipy.special import erf

from wordpiece import longest_pieces

LAYERS = 6
HEADS = 12
SIZE = 384
UNKNOWN, CLS, SEP = 100, 101, 102
BATCH_TOKENS = 8192


def read_weights(path, sha256):
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        raise SystemExit(f"{path} has the SHA-256 {digest}; {sha256} was expected.")
    head = struct.unpack("<Q", data[:8])[0]
    entries = json.loads(data[8 : 8 + head])
    weights = {}
    for name, entry in entries.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        weights[name] = np.frombuffer(data[8 + head + begin : 8 + head + end], np.float32).reshape(entry["shape"])
    return weights


class Teacher:
    def __init__(self, folder, sha256):
        self._weights = read_weights(folder / "model.safetensors", sha256)
        self.vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.numbers = {piece: number for number, piece in enumerate(self.vocabulary)}

    def pieces(self, text, most):
        """Splits a text as BERT does: lower case, no accents, punctuation and ideographs as separate pieces."""
        found = []
        plain = unicodedata.normalize("NFD", text.lower())
        spaced = "".join(self._spaced(c) for c in plain)
        for word in spaced.split():
            known = longest_pieces(word, self.numbers)
            found += [UNKNOWN] if known is None else known
            if len(found) >= most:
                break
        return found[:most]

    @staticmethod
    def _spaced(c):
        category = unicodedata.category(c)
        if category == "Mn":
            return ""
        if category[0] in "PS" or "\u4e00" <= c <= "\u9fff":
            return f" {c} "
        return " " if category[0] in "ZC" else c

    def input_of(self, pieces):
        """Returns the input of the first layer: the mean of the pieces' own rows."""
        return self._weights["embeddings.word_embeddings.weight"][pieces].mean(0)

    def embed(self, token_lists):
        """Returns unit vectors of lists of pieces; adds the begin and end pieces to each list."""
        order = sorted(range(len(token_lists)), key=lambda at: len(token_lists[at]))
        vectors = np.zeros((len(token_lists), SIZE), np.float32)
        at = 0
        while at < len(order):
            end = at + 1
            while end < len(order) and (len(token_lists[order[end]]) + 2) * (end - at + 1) <= BATCH_TOKENS:
                end += 1
            batch = order[at:end]
            vectors[batch] = self._batch([token_lists[one] for one in batch])
            at = end
        return vectors

    def _batch(self, lists):
        length = max(len(one) for one in lists) + 2
        ids = np.zeros((len(lists), length), np.int64)
        mask = np.zeros((len(lists), length), np.float32)
        for row, one in enumerate(lists):
            ids[row, : len(one) + 2] = [CLS, *one, SEP]
            mask[row, : len(one) + 2] = 1
        state = self._encode(ids, mask)
        mean = (state * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _encode(self, ids, mask):
        w = self._weights
        state = w["embeddings.word_embeddings.weight"][ids]
        state = state + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        state = state + w["embeddings.token_type_embeddings.weight"][0]
        state = self._normed(state, "embeddings.LayerNorm")
        bias = ((1 - mask) * -1e9)[:, None, None, :].astype(np.float32)
        for layer in range(LAYERS):
            state = self._layer(state, bias, f"encoder.layer.{layer}.")
        return state

    def _layer(self, state, bias, prefix):
        count, length, _ = state.shape
        heads = [
            self._linear(state, f"{prefix}attention.self.{part}").reshape(count, length, HEADS, -1).swapaxes(1, 2)
            for part in ("query", "key", "value")
        ]
        query, key, value = heads
        scores = query @ key.swapaxes(2, 3) / np.float32(np.sqrt(SIZE / HEADS)) + bias
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ value).swapaxes(1, 2).reshape(count, length, SIZE)
        out = self._linear(mixed, f"{prefix}attention.output.dense")
        state = self._normed(state + out, f"{prefix}attention.output.LayerNorm")
        inner = self._linear(state, f"{prefix}intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / np.float32(np.sqrt(2))))
        return self._normed(state + self._linear(inner, f"{prefix}output.dense"), f"{prefix}output.LayerNorm")

    def _linear(self, state, name):
        weight = self._weights[f"{name}.weight"]
        flat = state.reshape(-1, weight.shape[1]) @ weight.T + self._weights[f"{name}.bias"]
        return flat.reshape(*state.shape[:-1], -1)

    def _normed(self, state, name):
        centred = state - state.mean(-1, keepdims=True)
        deviation = np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-12)
        return centred / deviation * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
