"""Computes the beliefs that a rendered program must have, independently of it:
python reference.py MODEL.md ROWS.jsonl FLAVOUR

Reads the numbers of a model from its GNN (a value in a line, B as next × previous × action) and the observations
and actions from the rows. FLAVOUR is `1` for the algorithm of PyMDP 1.x, `0` for that of 0.0.7. All sums are over
the joint table of all factors, which no rendered program uses. Prints the largest difference, and exits with 1 if it is
above 1e-6.
"""

import ast
import itertools
import json
import re
import sys

import numpy as np

TOLERANCE = 1e-6
TINY = 2.0**-52
VALUE = re.compile(r"^([A-Za-z_0-9]+)=\{(.*)\}$")


def read(path):
    lines = open(path, encoding="utf8").read().split("\n")
    values = {}
    for line in lines:
        found = VALUE.match(line.split("#")[0].strip())
        if found:
            numbers = ast.literal_eval("[" + found[2].replace("(", "[").replace(")", "]") + "]")
            values[found[1]] = np.array(numbers, dtype=float)
    for line in lines:
        declared = re.match(r"^([A-Za-z_0-9]+)\[([\d,]+),type", line)
        if declared and declared[1] in values:
            values[declared[1]] = values[declared[1]].reshape([int(d) for d in declared[2].split(",")])
    ratio = re.search(r"^timescale_ratio: (\d+)$", "\n".join(lines), re.M)
    joined = re.findall(r"^s_f(\d+)-([AB]_[mf]\d+(?:_level\d+)?)$", "\n".join(lines), re.M)
    window = re.search(r"^inference_horizon: (\d+)$", "\n".join(lines), re.M)
    return values, int(ratio[1]) if ratio else 1, joined, int(window[1]) if window else 0


class Agent:
    def __init__(self, values, joined, window, name, is_new, policies):
        self.is_new, self.window, self.seen, self.done = is_new, window, [], []
        pick = lambda letter: [values[k] for k in sorted(values) if belongs(k, letter, name)]
        self.B, self.counts_B = pick("B"), pick("dirichlet_B")
        self.sizes = [b.shape[0] for b in self.B]
        self.counts_D = pick("dirichlet_D")
        self.prior = [c / c.sum() for c in self.counts_D] or pick("D")
        self.start = self.prior
        of = lambda f: [int(g) for g, b in joined if b == f"B_f{f}"]
        self.led = [sorted({f, *of(f)}) if b.ndim > 3 else [f] for f, b in enumerate(self.B)]
        names = [k for k in sorted(values) if belongs(k, "A", name)]
        self.on = [self.factors_of(values[k], [int(f) for f, a in joined if a == k]) for k in names]
        self.A = [self.whole(values[k], on) for k, on in zip(names, self.on)]
        self.C = pick("C") or [np.zeros(len(a)) for a in self.A]
        self.counts_A = [self.whole(c, on) for c, on in zip(pick("dirichlet_A"), self.on)]
        if self.counts_A:
            self.A = [c / c.sum(0) for c in self.counts_A]
        if self.counts_B:
            self.B = [c / c.sum(0) for c in self.counts_B]
        actions = list(itertools.product(*(range(b.shape[-1]) for b in self.B)))
        self.policies = list(itertools.product(actions, repeat=policies))
        habit = pick("E")
        self.habit = habit[0] if habit else np.full(len(self.policies), 1 / len(self.policies))
        self.beliefs = self.action = None

    def factors_of(self, table, named):
        if named:
            return named
        every = [list(c) for n in range(1, 5) for c in itertools.combinations(range(len(self.sizes)), n)]
        return next(c for c in every if [self.sizes[f] for f in c] == list(table.shape[1:]))

    def whole(self, table, on):
        """Returns the table over all factors."""
        shape = [table.shape[0]] + [s if f in on else 1 for f, s in enumerate(self.sizes)]
        return np.broadcast_to(table.reshape(shape), [table.shape[0], *self.sizes])

    def log(self, x):
        return np.log(np.maximum(x, TINY)) if self.is_new else np.log(x + 1e-16)

    def see(self, observation):
        before = self.beliefs
        self.seen.append(observation)
        if self.window:
            self.beliefs = self.passed(self.seen[-self.window :])
            return
        if self.is_new:
            evidence = sum(self.log(a[o]) for a, o in zip(self.A, observation))
        else:
            evidence = self.log(np.prod([a[o] for a, o in zip(self.A, observation)], axis=0))
        q, energy = [np.full(s, 1 / s) for s in self.sizes], None
        for _ in range(16 if self.is_new else 10):
            q = [softmax(self.weighted(evidence, q, f) + self.log(self.prior[f])) for f in range(len(q))]
            if self.is_new or len(q) == 1:
                continue
            new = self.energy(q) - (evidence * joint(q)).sum()
            old = self.energy([np.full(s, 1 / s) for s in self.sizes]) if energy is None else energy
            energy = new
            if abs(old - new) < 0.001:
                break
        self.beliefs = q
        for m, counts in enumerate(self.counts_A):
            axes = tuple(f + 1 for f in range(len(self.sizes)) if f not in self.on[m])
            grown = counts.copy()
            grown[observation[m]] += joint([q[f] if f in self.on[m] else np.ones(s) for f, s in enumerate(self.sizes)])
            self.counts_A[m] = grown
            self.A[m] = grown / grown.sum(0)
            assert all(np.ptp(self.A[m], axis=a).max() < 1e-12 for a in axes)
        for f, counts in enumerate(self.counts_B):
            if before is not None:
                grown = counts.copy()
                grown[..., self.action[f]] += joint([q[f], *(before[g] for g in self.led[f])])
                self.counts_B[f], self.B[f] = grown, grown / grown.sum(0)

    def passed(self, seen):
        """Marginal message passing: each transition between two states contributes half to each of them."""
        done = self.done[len(self.done) - len(seen) + 1 :]
        evidence = [sum(self.log(a[o]) for a, o in zip(self.A, outcomes)) for outcomes in seen]
        q = [[np.full(s, 1 / s) for s in self.sizes] for _ in seen]
        for _ in range(16):
            q = [[self.told(t, f, q, evidence, done) for f in range(len(self.sizes))] for t in range(len(seen))]
        return q[-1]

    def told(self, t, f, q, evidence, done):
        before = self.start[f] if t == 0 else self.lead(f, q[t - 1], done[t - 1])
        seen = self.weighted(evidence[t], q[t], f)
        if t == len(q) - 1:
            return softmax(seen + self.log(before))
        between = self.log(before)
        for g, b in enumerate(self.B):
            if f not in self.led[g]:
                continue
            shape = [len(b)] + [s if h in self.led[g] else 1 for h, s in enumerate(self.sizes)]
            table = np.broadcast_to(b[..., done[t][g]].reshape(shape), [len(b), *self.sizes])
            ways = np.array([self.weighted(row, q[t], f) for row in table])
            between = between + self.log(q[t + 1][g] @ (ways / np.maximum(ways.sum(1, keepdims=True), TINY)))
        return softmax(seen + between / 2)

    def weighted(self, table, q, factor):
        weights = joint([np.ones(s) if f == factor else q[f] for f, s in enumerate(self.sizes)])
        return (table * weights).sum(tuple(f for f in range(len(q)) if f != factor))

    def lead(self, f, q, action):
        believed = joint([q[g] for g in self.led[f]])
        return np.tensordot(self.B[f][..., action[f]], believed, believed.ndim)

    def energy(self, q):
        return sum(a @ self.log(a) - a @ self.log(b) for a, b in zip(q, self.prior))

    def score(self, policy):
        q, total = self.beliefs, 0.0
        for action in policy:
            q = [self.lead(f, q, action) for f in range(len(q))]
            table = joint(q)
            seen = [(a * table).reshape(len(a), -1).sum(1) for a in self.A]
            if self.is_new:
                # Information of each state's outcomes, compared with the expected outcomes.
                for a, o, c in zip(self.A, seen, self.C):
                    told = a * (self.log(a) - self.log(o).reshape(-1, *[1] * table.ndim))
                    total += (told.sum(0) * table).sum() + o @ c
            else:
                total += sum(o @ self.log(softmax(c)) for o, c in zip(seen, self.C)) + self.gain(table)
        return total

    def gain(self, table):
        expected, gain = 0, 0.0
        for place in np.argwhere(table > np.exp(-16)):
            outcomes = joint([a[(slice(None), *place)] for a in self.A])
            expected = expected + table[tuple(place)] * outcomes
            gain += table[tuple(place)] * (outcomes * np.log(outcomes + np.exp(-16))).sum()
        return gain - (expected * self.log(expected)).sum()

    def act(self, action):
        self.action = action
        self.done.append(action)
        self.prior = [self.lead(f, self.beliefs, action) for f in range(len(self.sizes))]


def belongs(key, letter, name):
    rest = re.match(rf"^{letter}((?:_[mf]\d+)?)((?:_(?:agent|level)\d+)?)$", key)
    return rest is not None and rest[2].lstrip("_") == name


def softmax(x):
    x = np.exp(x - x.max())
    return x / x.sum()


def joint(vectors):
    result = np.ones(())
    for vector in vectors:
        result = np.multiply.outer(result, vector)
    return result


def check(path, rows, is_new, policies):
    values, ratio, joined, window = read(path)
    names = dict.fromkeys(r["agent"] for r in rows)
    agents = {name: Agent(values, joined, window, name, is_new, policies) for name in names}
    worst = 0.0
    for row in rows:
        agent = agents[row["agent"]]
        if row["agent"] == "level1" and row["step"] % ratio == 0:
            upper = agents["level2"]
            agent.prior = [(upper.A[0] * joint(upper.prior)).reshape(len(upper.A[0]), -1).sum(1)]
        agent.see(row["observation"])
        scores = np.array([agent.score(policy) for policy in agent.policies])
        policies_ = softmax((1 if is_new else 16) * scores + agent.log(agent.habit))
        pairs = [*zip(agent.beliefs, row["beliefs"]), (policies_, row["policies"])]
        pairs.append((scores, row["negative_expected_free_energy"]))
        if agent.counts_D and len(agent.seen) == 1:
            grown = [c + b for c, b in zip(agent.counts_D, agent.beliefs)]
            pairs += [(g / g.sum(), learnt) for g, learnt in zip(grown, row["learnt_D"])]
        worst = max(worst, *(np.abs(np.array(a) - np.array(b)).max() for a, b in pairs))
        agent.act(row["action"])
    return worst


def sequence(v, T):
    """Returns mean and covariance of T consecutive states as one Gaussian."""
    F, Q = v["F"], v["Q"]
    means, blocks = [v["prior_mean"].ravel()], {(0, 0): v["prior_cov"]}
    for t in range(1, T):
        means.append(F @ means[-1])
        for s in range(t):
            blocks[t, s] = F @ blocks[t - 1, s] if (t - 1, s) in blocks else F @ blocks[s, t - 1].T
            blocks[s, t] = blocks[t, s].T
        blocks[t, t] = F @ blocks[t - 1, t - 1] @ F.T + Q
    return np.concatenate(means), np.block([[blocks[i, j] for j in range(T)] for i in range(T)])


def smoothed(v, seen):
    """Returns means and covariance of all states, given all observations."""
    T = len(seen)
    mean, covariance = sequence(v, T)
    G, noise = np.kron(np.eye(T), v["H"]), np.kron(np.eye(T), v["R"])
    gain = covariance @ G.T @ np.linalg.inv(G @ covariance @ G.T + noise)
    return (mean + gain @ (seen.ravel() - G @ mean)).reshape(T, -1), covariance - gain @ G @ covariance


def check_linear(path, rows):
    """Checks a filter against the whole sequence as one Gaussian, conditioned on the observations so far."""
    v, _, _, _ = read(path)
    H, R = v["H"], v["R"]
    n, m, T = v["F"].shape[0], H.shape[0], len(rows)
    mean, covariance = sequence(v, T)
    worst = 0.0
    for t, row in enumerate(rows):
        G = np.kron(np.eye(T), H)[: (t + 1) * m]
        y = np.concatenate([r["observation"] for r in rows[: t + 1]])
        gain = covariance @ G.T @ np.linalg.inv(G @ covariance @ G.T + np.kron(np.eye(t + 1), R))
        here = slice(t * n, (t + 1) * n)
        believed = (mean + gain @ (y - G @ mean))[here]
        spread = (covariance - gain @ G @ covariance)[here, here]
        worst = max(worst, np.abs(believed - row["mean"]).max(), np.abs(spread - row["covariance"]).max())
    return worst


if __name__ == "__main__":
    path, rows_path, flavour = sys.argv[1:4]
    rows = [json.loads(line) for line in open(rows_path, encoding="utf8")]
    length = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    worst = check_linear(path, rows) if "mean" in rows[0] else check(path, rows, flavour == "1", length)
    print(f"{worst:.3g}")
    sys.exit(0 if worst <= TOLERANCE else 1)
