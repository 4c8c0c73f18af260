import type { DiscreteAgent } from "../programs/program.ts";
import { ProgramError } from "../programs/program-error.ts";
import { pymdpTarget } from "./pymdp-target.ts";
import type { RenderTarget } from "./target.ts";

/** Target for PyMDP 1.x. Its default precision of policies is 1. */
export const pymdp: RenderTarget = pymdpTarget({
  title: "PyMDP 1.x",
  defaults: { gamma: 1, alpha: 1, iterations: 16 },
  expect: ({ agents }) => agents.forEach(expectWholeLearning),
  // Built on demand, because the parts are declared below.
  parts: () => [IMPORTS, MIND],
});

/** Throws if only some likelihoods, or only some transitions, are learnt: PyMDP 1.x learns all or none. */
function expectWholeLearning({ modalities, factors }: DiscreteAgent): void {
  const fixed = modalities.find(({ countsA }) => !countsA) ?? modalities[0]!;
  if (modalities.some(({ countsA }) => countsA) && !fixed.countsA)
    throw new ProgramError(fixed.name, `${fixed.name} has no dirichlet_${fixed.name}: PyMDP 1.x learns all A or none.`);
  const still = factors.find(({ countsB }) => !countsB);
  if (factors.some(({ countsB }) => countsB) && still)
    throw new ProgramError(still.name, `${still.name} has no dirichlet_${still.name}: PyMDP 1.x learns all B or none.`);
}

const IMPORTS = `import json
import os
import sys

os.environ.setdefault("JAX_ENABLE_X64", "True")
import jax
import jax.numpy as jnp
import numpy as np
from pymdp.agent import Agent
from pymdp.control import compute_neg_efe_policy
`;

const MIND = `

def batch(arrays):
    """Returns the arrays as a batch of one agent, because PyMDP runs agents in batches."""
    return [jnp.asarray(array)[None] for array in arrays]


def means(tensors, counts):
    return [tensor if count is None else count / count.sum(0) for tensor, count in zip(tensors, counts)]


def led(table, beliefs):
    """Returns the result of a table for the beliefs about the factors on which it depends."""
    for belief in reversed(beliefs):
        table = table @ belief
    return table


class Mind:
    """Beliefs and preferences of one agent."""

    def __init__(self, agent):
        self.learns_A = agent["counts_A"][0] is not None
        self.learns_B = agent["counts_B"][0] is not None
        self.agent = Agent(
            A=batch(means(believed_A(agent), agent["counts_A"])),
            B=batch(means(agent["B"], agent["counts_B"])),
            C=batch(agent["C"]),
            D=batch(means(agent["D"], agent["counts_D"])),
            E=None if agent["E"] is None else jnp.asarray(agent["E"])[None],
            pA=batch(agent["counts_A"]) if self.learns_A else None,
            pB=batch(agent["counts_B"]) if self.learns_B else None,
            learn_A=self.learns_A,
            learn_B=self.learns_B,
            A_dependencies=agent["on"],
            B_dependencies=agent["from"],
            inference_algo="mmp" if WINDOW else "fpi",
            inference_horizon=WINDOW or None,
            policy_len=POLICY_LENGTH,
            gamma=GAMMA,
            alpha=ALPHA,
            action_selection="stochastic" if STOCHASTIC else "deterministic",
            num_iter=ITERATIONS,
            use_states_info_gain=EPISTEMIC_WEIGHT != 0,
            use_utility=PRAGMATIC_WEIGHT != 0,
            use_param_info_gain=PARAMETER_GAIN,
            batch_size=1,
        )
        self.free_energy, self.parts = 0.0, {}
        self.prior = self.start = self.agent.D
        self.on, self.links, self.qs, self.action = agent["on"], agent["from"], None, None
        # Window of message passing: observations, and the actions between them.
        self.seen, self.done = [], []

    def expect(self, prior):
        self.prior = self.start = batch(prior)
        self.seen, self.done = [], []

    def expected_outcomes(self):
        """Returns the expected outcomes of the only modality of a level."""
        return np.asarray(led(self.agent.A[0][0], [self.prior[f][0] for f in self.on[0]]))

    def see(self, observation):
        seen = [jnp.array([[outcome]]) for outcome in observation]
        before, self.qs = self.qs, self.infer(seen, observation)
        if self.learns_A or self.learns_B:
            self.learn(seen, before)
        return [belief[0, -1] for belief in self.qs]

    def infer(self, seen, observation):
        if not WINDOW:
            return self.inferred(seen, self.prior)
        self.seen = [*self.seen, observation][-WINDOW:]
        self.done = self.done[len(self.done) - len(self.seen) + 1 :]
        rows = [jnp.array([outcomes]) for outcomes in zip(*self.seen)]
        done = jnp.array([self.done]) if self.done else None
        return [belief[:, -1:] for belief in self.inferred(rows, self.start, past_actions=done)]

    def inferred(self, seen, prior, **options):
        beliefs, details = self.agent.infer_states(seen, prior, return_info=True, **options)
        self.free_energy = np.asarray(details["vfe"]).sum()
        return beliefs

    def learn(self, seen, before):
        # A negative action means that there was no previous step.
        action = jnp.full((1, 1, len(self.qs)), -1) if before is None else self.action[:, None]
        pairs = zip(self.qs if before is None else before, self.qs)
        steps = [jnp.concatenate([old[:, -1:], new[:, -1:]], axis=1) for old, new in pairs]
        self.agent = self.agent.infer_parameters(
            self.qs, seen, action, beliefs_B=steps, lr_pA=LEARNING_RATES["A"], lr_pB=LEARNING_RATES["B"]
        )

    def plan(self):
        policies, scores = self.agent.infer_policies(self.qs)
        wanted = ["epistemic_value", "pragmatic_value", *(["parameter_information_gain"] if PARAMETER_GAIN else [])]
        self.parts = {name: self.part(place) for place, name in enumerate(wanted)}
        return policies[0], scores[0]

    def part(self, place):
        """Returns one part of the scores: those that PyMDP returns if it is asked for this part alone."""
        agent = self.agent
        flags = [agent.use_states_info_gain, agent.use_utility, agent.use_param_info_gain]
        states, utility, parameters = (place == one and flag for one, flag in enumerate(flags))
        first = lambda arrays: None if arrays is None else [array[0] for array in arrays]
        believed = [belief[0, -1] for belief in self.qs]
        tensors = [first(arrays) for arrays in (agent.A, agent.B, agent.C, agent.pA, agent.pB)]
        return jax.vmap(
            lambda policy: compute_neg_efe_policy(
                believed, *tensors, agent.A_dependencies, agent.B_dependencies, policy, utility, states, parameters
            )
        )(agent.policies.policy_arr)

    def choose(self, policies):
        seed = jax.random.PRNGKey(int(self.rng.integers(2**31))) if STOCHASTIC else None
        keys = None if seed is None else jax.random.split(seed, 1)
        return [int(action) for action in self.agent.sample_action(policies[None], rng_key=keys)[0]]

    def act(self, action):
        self.action = jnp.array([action])
        self.done = [*self.done, action]
        believed = [belief[0, -1] for belief in self.qs]
        steps = zip(self.agent.B, action, self.links)
        self.prior = batch([led(b[0][..., u], [believed[f] for f in on]) for b, u, on in steps])

`;
