/** Python code of the world in which agents act, and of the loop, with NumPy. It is the same for every target. */
export const PYTHON_RUN = `
def draw(rng, probabilities):
    """Returns an index, sampled by its probability."""
    return int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))


class World:
    """The model as written, with sampled states."""

    def __init__(self, agent, rng):
        self.agent, self.rng = agent, rng
        self.states = [draw(rng, prior) for prior in agent["D"]]

    def observe(self):
        tables = zip(self.agent["A"], self.agent["on"])
        return [draw(self.rng, a[(slice(None), *(self.states[f] for f in on))]) for a, on in tables]

    def act(self, action):
        steps = zip(self.agent["B"], self.agent["from"], action)
        self.states = [draw(self.rng, b[(slice(None), *(self.states[f] for f in on), u)]) for b, on, u in steps]


def learnt_start(counts, beliefs):
    """Returns the learnt initial state of each factor, from counts and first beliefs; None if not learnt."""
    sums = [None if c is None else c + LEARNING_RATES["D"] * np.asarray(belief) for c, belief in zip(counts, beliefs)]
    return [None if total is None else (total / total.sum()).tolist() for total in sums]


def turn(agent, mind, step, observation, states=None):
    """Runs one step of an agent: observes, plans, acts. Returns the result as plain data."""
    beliefs = mind.see(observation)
    row = act(agent["name"], mind, step, observation, states, beliefs)
    if any(agent["action_labels"]):
        pairs = zip(agent["action_labels"], row["action"])
        row["action_labels"] = [str(u) if names is None else names[u] for names, u in pairs]
    if not hasattr(mind, "has_begun") and any(counts is not None for counts in agent["counts_D"]):
        row["learnt_D"] = learnt_start(agent["counts_D"], beliefs)
    mind.has_begun = True
    return row


def act(name, mind, step, observation, states, beliefs):
    policies, scores = mind.plan()
    action = mind.choose(policies)
    mind.act(action)
    return {
        "agent": name,
        "step": step,
        "states": states,
        "observation": observation,
        "beliefs": [np.asarray(belief).tolist() for belief in beliefs],
        "free_energy": float(mind.free_energy),
        "policies": np.asarray(policies).tolist(),
        "negative_expected_free_energy": np.asarray(scores).tolist(),
        **{name: np.asarray(values).tolist() for name, values in mind.parts.items()},
        "action": action,
    }


def run(steps=STEPS, seed=SEED):
    """Yields a row for each step of each agent."""
    rng = np.random.default_rng(seed)
    minds = [Mind(agent) for agent in AGENTS]
    for mind in minds:
        mind.rng = rng
    worlds = [World(agent, rng) for agent in (AGENTS[:1] if IS_LEVELS else AGENTS)]
    periods = [int(np.prod(RATIOS[: level + 1])) for level in range(len(RATIOS))]
    for step in range(steps):
        # Each level sets the prior of the level below, and observes its state at the end of a period.
        for level in reversed(range(1, len(minds) if IS_LEVELS else 0)):
            if step % periods[level - 1] == 0:
                minds[level - 1].expect([minds[level].expected_outcomes()])
        for agent, mind, world in zip(AGENTS, minds, worlds):
            states = list(world.states)
            row = turn(agent, mind, step, world.observe(), states)
            world.act(row["action"])
            yield row
        for level in range(1, len(minds) if IS_LEVELS else 0):
            if (step + 1) % periods[level - 1] != 0:
                break
            row = turn(AGENTS[level], minds[level], step, [int(np.argmax(row["beliefs"][0]))])
            yield row


if __name__ == "__main__":
    for row in run(*(int(argument) for argument in sys.argv[1:3])):
        print(json.dumps(row))
`;

/** Returns the first lines of a program. */
export function pythonHead(library: string): string {
  return `"""An Active Inference model, rendered from GNN for ${library}.

    python PROGRAM.py [STEPS [SEED]]

prints a line of JSON for each step: observations, beliefs, scores of the policies, actions.
"""
`;
}
