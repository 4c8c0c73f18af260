/**
 * Python code of an agent with fixed-point inference and expected free energy, for any array library. The algorithm is
 * that of PyMDP 1.x.
 */
export const PYTHON_MIND = `
# Lower limit that keeps logarithms finite.
SMALLEST = 2.0**-52
LETTERS = "abcdefghijklmnopqrstuvwxy"


def logarithm(values):
    return log(at_least(values, SMALLEST))


def softmax(values):
    powers = exp(values - values.max())
    return powers / powers.sum()


def contract(table, vectors, keep):
    """Sums over each dimension that has a vector, weighted with it; dimensions are letters."""
    terms = ",".join([LETTERS[: table.ndim], *(letter for letter, _ in vectors)])
    return einsum(f"{terms}->{keep}", table, *(vector for _, vector in vectors))


def infer(A, on, observation, prior):
    """Returns the beliefs after the observations."""
    evidence = [logarithm(table[outcome]) for table, outcome in zip(A, observation)]
    log_prior = [logarithm(belief) for belief in prior]
    posterior = [belief * 0 for belief in prior]
    # With one factor the first update is exact.
    for _ in range(1 if len(prior) == 1 else ITERATIONS):
        beliefs = [softmax(values) for values in posterior]
        posterior = list(log_prior)
        for table, factors in zip(evidence, on):
            for place, factor in enumerate(factors):
                others = [(LETTERS[i], beliefs[f]) for i, f in enumerate(factors) if i != place]
                posterior[factor] = posterior[factor] + contract(table, others, LETTERS[place])
    return [softmax(values) for values in posterior]


def divergence(beliefs, priors):
    return sum(belief @ (logarithm(belief) - logarithm(prior)) for belief, prior in zip(beliefs, priors))


def accuracy(A, on, observation, beliefs):
    """Returns the expected logarithm of the likelihood of the observations."""
    terms = []
    for table, factors, outcome in zip(A, on, observation):
        terms.append(contract(logarithm(table[outcome]), [(LETTERS[i], beliefs[f]) for i, f in enumerate(factors)], ""))
    return sum(terms)


def free_energy(A, on, observation, prior, beliefs):
    """Returns the variational free energy of the beliefs: their complexity minus their accuracy."""
    return divergence(beliefs, prior) - accuracy(A, on, observation, beliefs)


def window_free_energy(A, on, B, links, window, beliefs):
    """Returns the free energy of the beliefs at all steps of a window, assuming independent steps."""
    seen, done, start = window
    total = divergence(beliefs[0], start) - accuracy(A, on, seen[0], beliefs[0])
    for outcomes, actions, before, after in zip(seen[1:], done, beliefs, beliefs[1:]):
        total = total - accuracy(A, on, outcomes, after)
        for b, u, factors, belief in zip(B, actions, links, after):
            vectors = [("a", belief), *((LETTERS[i + 1], before[f]) for i, f in enumerate(factors))]
            total = total + belief @ logarithm(belief) - contract(logarithm(b[..., u]), vectors, "")
    return total


def next_state(b, on, beliefs, action):
    """Returns the next state of a factor, from the beliefs about its dependencies."""
    return contract(b[..., action], [(LETTERS[i + 1], beliefs[f]) for i, f in enumerate(on)], "a")


def next_states(B, links, beliefs, action):
    return [next_state(b, on, beliefs, u) for b, on, u in zip(B, links, action)]


def explained(b, on, place, beliefs, after):
    """Returns how well each state of a factor explains the next state of another factor."""
    others = [(LETTERS[i + 1], beliefs[f]) for i, f in enumerate(on) if i != place]
    ways = contract(b, others, "a" + LETTERS[place + 1])
    return after @ (ways / at_least(ways.sum(-1), SMALLEST)[:, None])


def pass_messages(A, on, B, links, window):
    """Returns the beliefs at each step, from the observations and messages between consecutive steps."""
    seen, done, start = window
    evidence = [[logarithm(table[o]) for table, o in zip(A, outcomes)] for outcomes in seen]
    beliefs = [[softmax(belief * 0) for belief in start] for _ in seen]
    for _ in range(ITERATIONS):
        beliefs = [
            [softmax(told(evidence[t], on, beliefs[t], f) + linked(B, links, (done, start), beliefs, (t, f)))
             for f in range(len(start))]
            for t in range(len(seen))
        ]
    return beliefs


def told(evidence, on, beliefs, factor):
    """Returns the message of the observations at a step about a factor."""
    total = beliefs[factor] * 0
    for table, factors in zip(evidence, on):
        if factor in factors:
            others = [(LETTERS[i], beliefs[f]) for i, f in enumerate(factors) if f != factor]
            total = total + contract(table, others, LETTERS[factors.index(factor)])
    return total


def linked(B, links, edge, beliefs, place):
    """Returns half of the messages of the previous and the next step about a factor."""
    (done, start), (t, f) = edge, place
    before = start[f] if t == 0 else next_state(B[f], links[f], beliefs[t - 1], done[t - 1][f])
    if t == len(beliefs) - 1:
        return logarithm(before)
    total = logarithm(before)
    for b, on, u, after in zip(B, links, done[t], beliefs[t + 1]):
        if f in on:
            total = total + logarithm(explained(b[..., u], on, on.index(f), beliefs[t], after))
    return total / 2


def score(A, on, B, links, C, beliefs, policy):
    """Returns the parts of the negative expected free energy: information gain about states, and preference."""
    epistemic, pragmatic = 0.0, 0.0
    for action in policy:
        beliefs = next_states(B, links, beliefs, action)
        for table, factors, preference in zip(A, on, C):
            seen = [(LETTERS[i + 1], beliefs[f]) for i, f in enumerate(factors)]
            outcomes = contract(table, seen, "a")
            uncertain = contract(-(table * logarithm(table)), seen, "a").sum()
            epistemic = epistemic - (outcomes * logarithm(outcomes)).sum() - uncertain
            pragmatic = pragmatic + (outcomes * preference).sum()
    return EPISTEMIC_WEIGHT * epistemic, PRAGMATIC_WEIGHT * pragmatic


def digamma(values):
    """Returns the derivative of the logarithm of the gamma function, by its asymptotic series."""
    x, shift = values + 12, sum(1 / (values + k) for k in range(12))
    s = 1 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * 691 / 32760)))))
    return log(x) - 1 / (2 * x) - series - shift


def counts_gain(counts):
    """Returns the information gain about the parameters of each column, for each of its rows."""
    sums = counts.sum(0)
    return log(sums) - log(counts) + digamma(counts + 1) - digamma(sums + 1)


def parameter_gain(A, counts_A, on, B, counts_B, links, beliefs, policy):
    """Returns the information gain about learnt A and B under a policy."""
    gain = 0.0
    for action in policy:
        before, beliefs = beliefs, next_states(B, links, beliefs, action)
        for table, counts, factors in zip(A, counts_A, on):
            if counts is not None:
                seen = [(LETTERS[i + 1], beliefs[f]) for i, f in enumerate(factors)]
                gain = gain + contract(table, seen, "a") @ contract(counts_gain(counts), seen, "a")
        for belief, counts, factors, u in zip(beliefs, counts_B, links, action):
            if counts is not None:
                gain = gain + belief @ next_state(counts_gain(counts), factors, before, u)
    return gain


def all_policies(counts):
    """Returns every sequence of actions, with an action for each factor."""
    choices = list(itertools.product(*(range(count) for count in counts)))
    return list(itertools.product(choices, repeat=POLICY_LENGTH))


def means(tensors, counts):
    return [array(t) if c is None else array(c / c.sum(0)) for t, c in zip(tensors, counts)]


class Mind:
    """Beliefs and preferences of one agent."""

    def __init__(self, agent):
        on = agent["on"]
        self.A, self.B = means(believed_A(agent), agent["counts_A"]), means(agent["B"], agent["counts_B"])
        self.counts_A = [c if c is None else array(c) for c in agent["counts_A"]]
        self.counts_B = [c if c is None else array(c) for c in agent["counts_B"]]
        self.on, C = on, [array(c) for c in agent["C"]]
        self.prior, self.beliefs, self.action = means(agent["D"], agent["counts_D"]), None, None
        # Window of message passing: initial beliefs, observations, and the actions between them.
        self.start, self.seen, self.done = self.prior, [], []
        self.links = links = agent["from"]
        self.policies = all_policies([b.shape[-1] for b in agent["B"]])
        count = len(self.policies)
        self.log_habit = logarithm(array(np.full(count, 1 / count) if agent["E"] is None else agent["E"]))
        self.infer = compiled(lambda A, observation, prior: infer(A, on, observation, prior))
        self.pass_messages = compiled(lambda A, B, window: pass_messages(A, on, B, links, window))
        self.score = compiled(lambda A, B, beliefs, policy: score(A, on, B, links, C, beliefs, policy))
        self.free_energy, self.parts = 0.0, {}

    def expect(self, prior):
        self.prior = self.start = [array(belief) for belief in prior]
        self.seen, self.done = [], []

    def expected_outcomes(self):
        """Returns the expected outcomes of the only modality of a level."""
        believed = [(LETTERS[i + 1], self.prior[f]) for i, f in enumerate(self.on[0])]
        return to_numpy(contract(self.A[0], believed, "a"))

    def see(self, observation):
        before, self.beliefs = self.beliefs, self.believe(observation)
        for m, (counts, factors) in enumerate(zip(self.counts_A, self.on)):
            if counts is not None:
                seen = self.joint(observation[m], self.A[m].shape[0], factors)
                self.counts_A[m] = counts + LEARNING_RATES["A"] * seen
                self.A[m] = self.counts_A[m] / self.counts_A[m].sum(0)
        for f, counts in enumerate(self.counts_B):
            if counts is not None and before is not None:
                taken = one_hot(self.action[f], counts.shape[-1])
                vectors = [self.beliefs[f], *(before[one] for one in self.links[f]), taken]
                letters = LETTERS[: len(vectors)]
                self.counts_B[f] = counts + LEARNING_RATES["B"] * einsum(f"{','.join(letters)}->{letters}", *vectors)
                self.B[f] = self.counts_B[f] / self.counts_B[f].sum(0)
        return [to_numpy(belief) for belief in self.beliefs]

    def believe(self, observation):
        if not WINDOW:
            beliefs = self.infer(self.A, observation, self.prior)
            self.free_energy = free_energy(self.A, self.on, observation, self.prior, beliefs)
            return beliefs
        self.seen = [*self.seen, observation][-WINDOW:]
        self.done = self.done[len(self.done) - len(self.seen) + 1 :]
        window = (self.seen, self.done, self.start)
        beliefs = self.pass_messages(self.A, self.B, window)
        self.free_energy = window_free_energy(self.A, self.on, self.B, self.links, window, beliefs)
        return beliefs[-1]

    def joint(self, outcome, outcomes, factors):
        letters = LETTERS[: len(factors) + 1]
        vectors = [one_hot(outcome, outcomes), *(self.beliefs[f] for f in factors)]
        return einsum(f"{','.join(letters)}->{letters}", *vectors)

    def plan(self):
        parts = [self.score(self.A, self.B, self.beliefs, policy) for policy in self.policies]
        self.parts = {"epistemic_value": [float(e) for e, _ in parts], "pragmatic_value": [float(p) for _, p in parts]}
        if PARAMETER_GAIN:
            self.parts["parameter_information_gain"] = [float(self.gain(policy)) for policy in self.policies]
        scores = array([sum(values) for values in zip(*self.parts.values())])
        return to_numpy(softmax(GAMMA * scores + self.log_habit)), to_numpy(scores)

    def gain(self, policy):
        counts = (self.counts_A, self.on, self.B, self.counts_B, self.links)
        return parameter_gain(self.A, *counts, self.beliefs, policy)

    def choose(self, policies):
        if not STOCHASTIC:
            return list(self.policies[int(np.argmax(policies))][0])
        logits = ALPHA * np.log(np.maximum(policies, SMALLEST))
        return list(self.policies[draw(self.rng, np.exp(logits - logits.max()))][0])

    def act(self, action):
        self.action, self.done = action, [*self.done, action]
        self.prior = next_states(self.B, self.links, self.beliefs, action)


def one_hot(place, length):
    return array(np.arange(length) == place)

`;

/** Python code of a Kalman filter, and of a world of the same model. */
export const PYTHON_FILTER = `

def filtered(observations):
    """Yields the mean and covariance of the state, and the free energy, after each observation.

    The free energy is the negative logarithm of the density of an observation, given the earlier ones.
    """
    f, h, q, r = (array(matrix) for matrix in (F, H, Q, R))
    mean, covariance = array(PRIOR_MEAN), array(PRIOR_COVARIANCE)
    for y in observations:
        expected = h @ covariance @ h.T + r
        gain = solve(expected, h @ covariance).T
        surprise = array(y) - h @ mean
        energy = surprise_of(to_numpy(surprise), to_numpy(expected))
        mean = mean + gain @ surprise
        covariance = covariance - gain @ h @ covariance
        yield to_numpy(mean), to_numpy(covariance), energy
        mean, covariance = f @ mean, f @ covariance @ f.T + q


def surprise_of(difference, covariance):
    """Returns the negative logarithm of the density of a difference from the mean."""
    scaled = difference @ np.linalg.solve(covariance, difference)
    return float(scaled + np.linalg.slogdet(covariance)[1] + len(difference) * np.log(2 * np.pi)) / 2


def drawn(steps, rng):
    """Yields sampled states and observations of the model."""
    state = rng.multivariate_normal(PRIOR_MEAN, PRIOR_COVARIANCE)
    for _ in range(steps):
        yield state, rng.multivariate_normal(H @ state, R)
        state = rng.multivariate_normal(F @ state, Q)


def run(steps=STEPS, seed=SEED):
    """Yields a row for each step."""
    world = list(drawn(steps, np.random.default_rng(seed)))
    for step, ((state, y), (mean, covariance, energy)) in enumerate(zip(world, filtered([y for _, y in world]))):
        yield {
            "step": step,
            "state": state.tolist(),
            "observation": y.tolist(),
            "mean": mean.tolist(),
            "covariance": covariance.tolist(),
            "free_energy": energy,
        }


if __name__ == "__main__":
    for row in run(*(int(argument) for argument in sys.argv[1:3])):
        print(json.dumps(row))
`;
