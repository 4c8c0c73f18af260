"""Trains the table: a text is the sum of its pieces' rows, and the two texts of a pair become more similar than
others."""

import numpy as np
from scipy.sparse import csr_matrix, vstack

DIMENSIONS = 128
BATCH = 512
EPOCHS = 6
TEMPERATURE = 0.06
REGRESSION = 0.5
LEARNING_RATE = 0.004
MOMENTS = (0.9, 0.99)
# Pairs of one group are in runs of this length, so that training distinguishes siblings.
RUN = 32


def bags(lists, size):
    """Returns texts as rows of a sparse matrix: the count of each piece, divided by the square root of the number
    of pieces."""
    starts = np.cumsum([0, *(len(one) for one in lists)])
    columns = np.fromiter((piece for one in lists for piece in one), np.int32, starts[-1])
    return csr_matrix((np.ones(len(columns), np.float32), columns, starts), shape=(len(lists), size))


def begin(token_vectors, sentence_vectors, ranks):
    """Returns the pieces on the principal axes of the teacher's sentences, with longer vectors for rare pieces, and
    the axes."""
    mean = sentence_vectors.mean(0)
    centred = sentence_vectors - mean
    _, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    axes = vectors[:, ::-1][:, :DIMENSIONS]
    # The sign of an axis is arbitrary; it is chosen so that the largest component is positive.
    axes = (axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMENSIONS)])).astype(np.float32)
    rows = (token_vectors - mean) @ axes * np.log1p(ranks)[:, None].astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1).mean(), (sentence_vectors - mean) @ axes


def turned(table, matrix):
    """Returns the table on the principal axes of its texts, so that the first numbers of a vector carry the most
    information."""
    vectors = unit(matrix @ table)[0].astype(np.float64)
    axes = np.linalg.eigh(vectors.T @ vectors)[1][:, ::-1]
    axes = axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])])
    return (table @ axes).astype(np.float32)


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.maximum(lengths, 1e-6), np.maximum(lengths, 1e-6)


def through_unit(gradient, units, lengths):
    return (gradient - (gradient * units).sum(1, keepdims=True) * units) / lengths


class Student:
    def __init__(self, table, seed):
        self.table = table.astype(np.float32).copy()
        self._first = np.zeros_like(self.table)
        self._second = np.zeros_like(self.table)
        self._random = np.random.default_rng(seed)

    def train(self, pairs, matrix, targets, epochs=EPOCHS):
        """`pairs`: short, long, group; rows of `matrix`. `targets`: the teacher's vectors of some rows."""
        steps = epochs * (len(pairs) // BATCH)
        step = 0
        for epoch in range(epochs):
            order = self._order(pairs[:, 2])
            losses = []
            for at in range(0, len(order) - BATCH + 1, BATCH):
                step += 1
                rate = LEARNING_RATE * min(1, step / 100) * (1 - 0.95 * step / steps)
                losses.append(self._step(pairs[order[at : at + BATCH]], matrix, targets, rate))
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}", flush=True)
        return self.table

    def _order(self, groups):
        """Returns shuffled runs. Neighbours within a group are chosen again each time."""
        shuffled = self._random.permutation(len(groups))
        sorted_rows = shuffled[np.argsort(groups[shuffled], kind="stable")]
        runs = [sorted_rows[at : at + RUN] for at in range(0, len(sorted_rows), RUN)]
        return np.concatenate([runs[at] for at in self._random.permutation(len(runs))])

    def _step(self, batch, matrix, targets, rate):
        short, long = matrix[batch[:, 0]], matrix[batch[:, 1]]
        a, a_lengths = unit(short @ self.table)
        b, b_lengths = unit(long @ self.table)
        scores = a @ b.T / TEMPERATURE
        # Equal texts are not negatives of each other.
        same = (batch[:, 1][:, None] == batch[:, 1][None]) | (batch[:, 0][:, None] == batch[:, 0][None])
        same &= ~np.eye(len(batch), dtype=bool)
        scores[same] = -1e9
        rows, row_loss = softmax_gradient(scores)
        columns, column_loss = softmax_gradient(scores.T)
        gradient = (rows + columns.T) / (2 * len(batch) * TEMPERATURE)
        a_gradient, b_gradient = gradient @ b, gradient.T @ a
        known = targets.rows[batch[:, 1]]
        has = known >= 0
        b_gradient[has] -= REGRESSION * targets.vectors[known[has]] / len(batch)
        self._apply(short, through_unit(a_gradient, a, a_lengths), long, through_unit(b_gradient, b, b_lengths), rate)
        return (row_loss + column_loss) / 2

    def _apply(self, short, a_gradient, long, b_gradient, rate):
        both = vstack([short, long], format="csr")
        touched, columns = np.unique(both.indices, return_inverse=True)
        small = csr_matrix((both.data, columns, both.indptr), shape=(both.shape[0], len(touched)))
        gradient = small.T @ np.concatenate([a_gradient, b_gradient])
        first, second = MOMENTS
        self._first[touched] = first * self._first[touched] + (1 - first) * gradient
        self._second[touched] = second * self._second[touched] + (1 - second) * gradient**2
        self.table[touched] -= rate * self._first[touched] / (np.sqrt(self._second[touched]) + 1e-8)


class Targets:
    """The teacher's vectors on the student's axes, by row of the matrix; -1 for rows without a teacher vector."""

    def __init__(self, rows, vectors):
        self.rows = rows
        self.vectors = unit(vectors)[0]


def softmax_gradient(scores):
    """Returns the gradient of the cross entropy with each row's own column as the target."""
    shares = np.exp(scores - scores.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    loss = -np.log(np.maximum(np.diag(shares), 1e-12)).mean()
    shares[np.diag_indices(len(shares))] -= 1
    return shares, loss
