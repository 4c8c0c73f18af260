import { expectLegacy } from "../programs/legacy.ts";
import { pymdpTarget } from "./pymdp-target.ts";
import type { RenderTarget } from "./target.ts";

/** Target for PyMDP 0.0.7, the version before JAX. Its default precision of policies is 16. */
export const pymdp007: RenderTarget = pymdpTarget({
  title: "PyMDP 0.0.7",
  defaults: { gamma: 16, alpha: 16, iterations: 10 },
  expect: expectLegacy,
  // Built on demand, because the parts are declared below.
  parts: () => [IMPORTS, MIND],
});

const IMPORTS = `import json
import sys

import numpy as np
from pymdp import control, maths, utils
from pymdp.agent import Agent
`;

const MIND = `

def objects(arrays):
    """Returns arrays of different shapes as one object array, as PyMDP requires."""
    result = utils.obj_array(len(arrays))
    for index, array in enumerate(arrays):
        result[index] = np.asarray(array, dtype=float)
    return result


def over_all(tensor, on, states):
    """Returns a likelihood over all factors; it does not vary with the other factors."""
    shape = [size if factor in on else 1 for factor, size in enumerate(states)]
    return np.broadcast_to(tensor.reshape([len(tensor), *shape]), [len(tensor), *states]).copy()


def means(tensors, counts):
    return [tensor if count is None else count / count.sum(0) for tensor, count in zip(tensors, counts)]


def learnt(counts, tensors):
    """Returns which tensors are learnt, and their counts; the tensors themselves if not learnt."""
    which = [index for index, count in enumerate(counts) if count is not None]
    return which, objects([t if c is None else c for t, c in zip(tensors, counts)]) if which else None


def led(table, beliefs):
    """Returns the result of a table for the beliefs about the factors on which it depends."""
    for belief in reversed(beliefs):
        table = table @ belief
    return table


class Mind:
    """Beliefs and preferences of one agent."""

    def __init__(self, agent):
        states = [len(b) for b in agent["B"]]
        A = means(believed_A(agent), agent["counts_A"])
        A = [over_all(a, on, states) for a, on in zip(A, agent["on"])]
        B, D = means(agent["B"], agent["counts_B"]), means(agent["D"], agent["counts_D"])
        counts = [None if c is None else over_all(c, on, states) for c, on in zip(agent["counts_A"], agent["on"])]
        self.learns_A, pA = learnt(counts, A)
        self.learns_B, pB = learnt(agent["counts_B"], B)
        self.agent = Agent(
            A=objects(A),
            B=objects(B),
            C=objects(agent["C"]),
            D=objects(D),
            E=agent["E"],
            pA=pA,
            pB=pB,
            modalities_to_learn=self.learns_A or "all",
            factors_to_learn=self.learns_B or "all",
            policy_len=POLICY_LENGTH,
            gamma=GAMMA,
            alpha=ALPHA,
            lr_pA=LEARNING_RATES["A"],
            lr_pB=LEARNING_RATES["B"],
            use_states_info_gain=EPISTEMIC_WEIGHT != 0,
            use_utility=PRAGMATIC_WEIGHT != 0,
            action_selection="stochastic" if STOCHASTIC else "deterministic",
            inference_params={"num_iter": ITERATIONS, "dF": 1.0, "dF_tol": 0.001},
        )
        self.prior, self.taken = D, None
        self.free_energy, self.parts = 0.0, {}

    def expect(self, prior):
        # Belief about the initial state, instead of the expected state after the last action.
        self.prior = prior
        self.agent.D, self.agent.action = objects(prior), None

    def expected_outcomes(self):
        """Returns the expected outcomes of the only modality of a level, which depends on all factors."""
        return np.asarray(led(self.agent.A[0], self.prior), dtype=float)

    def see(self, observation):
        before = self.agent.qs
        beliefs = self.agent.infer_states(observation)
        self.free_energy = self.energy(observation, beliefs)
        if self.learns_A:
            self.agent.update_A(observation)
        if self.learns_B and self.taken is not None:
            self.agent.action = self.taken
            self.agent.update_B(before)
        return beliefs

    def plan(self):
        weights, scores = self.agent.infer_policies()
        parts = [self.parts_of(policy) for policy in self.agent.policies]
        names = ["epistemic_value", "pragmatic_value", *(["parameter_information_gain"] if PARAMETER_GAIN else [])]
        self.parts = dict(zip(names, zip(*parts)))
        return self.with_gain(scores) if PARAMETER_GAIN else (weights, scores)

    def with_gain(self, scores):
        """Adds the information gain about parameters, which fails within PyMDP 0.0.7 with NumPy 2.4 and later."""
        scores = scores + np.array(self.parts["parameter_information_gain"])
        habit = 0 if self.agent.E is None else maths.spm_log_single(self.agent.E)
        self.agent.G, self.agent.q_pi = scores, maths.softmax(scores * self.agent.gamma + habit)
        return self.agent.q_pi, scores

    def energy(self, observation, beliefs):
        """Returns the free energy of the beliefs, as PyMDP computes it within its iterations."""
        outcomes = [len(table) for table in self.agent.A]
        seen = objects([np.eye(count)[outcome] for count, outcome in zip(outcomes, observation)])
        joint = maths.get_joint_likelihood(self.agent.A, seen, [len(belief) for belief in beliefs])
        priors = maths.spm_log_obj_array(objects(self.prior))
        return np.sum(maths.calc_free_energy(beliefs, priors, len(beliefs), maths.spm_log_single(joint)))

    def parts_of(self, policy):
        agent = self.agent
        states = control.get_expected_states(agent.qs, agent.B, policy)
        outcomes = control.get_expected_obs(states, agent.A)
        parts = [
            control.calc_states_info_gain(agent.A, states) if agent.use_states_info_gain else 0,
            control.calc_expected_utility(outcomes, agent.C) if agent.use_utility else 0,
        ]
        gain = 0
        if PARAMETER_GAIN and agent.pA is not None:
            gain = gain + control.calc_pA_info_gain(agent.pA, outcomes, states)
        if PARAMETER_GAIN and agent.pB is not None:
            gain = gain + control.calc_pB_info_gain(agent.pB, states, agent.qs, policy)
        return [float(np.sum(part)) for part in [*parts, gain]]

    def choose(self, policies):
        if STOCHASTIC:
            np.random.seed(int(self.rng.integers(2**31)))
        return [int(action) for action in self.agent.sample_action()]

    def act(self, action):
        self.agent.action = self.taken = np.array(action, dtype=float)
        self.prior = [b[..., u] @ belief for b, u, belief in zip(self.agent.B, action, self.agent.qs)]

`;
