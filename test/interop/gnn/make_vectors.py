"""Writes the results of PyMDP for small models, for `packages/gnn/test/simulate.test.ts`.

    python make_vectors.py > packages/gnn/test/vectors/pymdp-1.json       # with inferactively-pymdp 1.x
    python make_vectors.py > packages/gnn/test/vectors/pymdp-0.0.7.json   # with 0.0.7

Observations and actions are random, so that a comparison does not depend on which of two equal actions is taken.
The action that the agent would have chosen is recorded too.
"""

import importlib.metadata
import itertools
import json
import os
import sys

os.environ.setdefault("JAX_ENABLE_X64", "True")
import numpy as np

VERSION = importlib.metadata.version("inferactively-pymdp")
IS_LEGACY = VERSION.startswith("0.")
STEPS = 12

# states and actions of each factor, outcomes and factors of each modality
SHAPES = {
    "two rooms": dict(factors=[(2, 2)], modalities=[(2, [0])]),
    "no action": dict(factors=[(4, 1)], modalities=[(3, [0])]),
    "several modalities": dict(factors=[(3, 2)], modalities=[(3, [0]), (4, [0])]),
    "several factors": dict(factors=[(3, 2), (2, 1)], modalities=[(3, [0, 1]), (2, [0])]),
    "three factors": dict(factors=[(3, 3), (2, 2), (2, 1)], modalities=[(4, [0, 1, 2]), (2, [1, 2]), (3, [0])]),
    "longer policies": dict(factors=[(3, 2)], modalities=[(3, [0])], policy_len=3, habit=True),
    "certain": dict(factors=[(3, 3), (2, 2)], modalities=[(3, [0]), (2, [0, 1])], sharp=True, policy_len=2),
    "learning": dict(factors=[(3, 2), (2, 1)], modalities=[(3, [0, 1]), (2, [0, 1])], learns=True),
}


def draw(seed, factors, modalities, policy_len=1, habit=False, sharp=False, learns=False):
    rng = np.random.default_rng(seed)

    def columns(*shape):
        if not sharp:
            return rng.dirichlet(np.ones(shape[0]), size=shape[1:]).transpose(-1, *range(len(shape) - 1))
        result = np.zeros(shape)
        for index in itertools.product(*map(range, shape[1:])):
            result[(rng.integers(shape[0]), *index)] = 1.0
        return result

    states = [count for count, _ in factors]
    policies = int(np.prod([actions for _, actions in factors])) ** policy_len
    model = dict(
        A=[columns(outcomes, *(states[f] for f in on)) for outcomes, on in modalities],
        B=[columns(count, count, actions) for count, actions in factors],
        C=[rng.normal(size=outcomes) for outcomes, _ in modalities],
        D=[rng.dirichlet(np.ones(count)) for count in states],
        E=rng.dirichlet(np.ones(policies)) if habit else None,
        on=[on for _, on in modalities],
        policy_len=policy_len,
    )
    if learns:
        model["pA"] = [rng.uniform(0.5, 3, size=a.shape) for a in model["A"]]
        model["pB"] = [rng.uniform(0.5, 3, size=b.shape) for b in model["B"]]
    observations = [[int(rng.integers(outcomes)) for outcomes, _ in modalities] for _ in range(STEPS)]
    actions = [[int(rng.integers(count)) for _, count in factors] for _ in range(STEPS)]
    return model, observations, actions


def to_gnn(name, model):
    """Returns the model as GNN, with all digits of every number."""

    def group(value):
        return "(" + ",".join(map(group, value)) + ")" if isinstance(value, list) else repr(value)

    tensors = {f"{letter}_m{i}": model[letter][i] for letter in "AC" for i in range(len(model["A"]))}
    tensors |= {f"{letter}_f{i}": model[letter][i] for letter in "BD" for i in range(len(model["B"]))}
    if model["E"] is not None:
        tensors["E"] = model["E"]
    for i, counts in enumerate(model.get("pA", [])):
        tensors[f"dirichlet_A_m{i}"] = counts
    for i, counts in enumerate(model.get("pB", [])):
        tensors[f"dirichlet_B_f{i}"] = counts
    declared = [f"{name}[{','.join(map(str, value.shape))},type=float]" for name, value in tensors.items()]
    edges = [f"s_f{f}-A_m{m}" for m, on in enumerate(model["on"]) for f in on]
    states = [f"s_f{f}[{b.shape[0]},1,type=float]" for f, b in enumerate(model["B"])]
    values = [f"{name}={{{group(value.tolist())[1:-1]}}}" for name, value in tensors.items()]
    sections = {
        "GNNSection": ["Model"],
        "GNNVersionAndFlags": ["GNN v1"],
        "ModelName": [name],
        "StateSpaceBlock": declared + states,
        "Connections": edges,
        "InitialParameterization": values,
    }
    return "\n".join(line for name, lines in sections.items() for line in [f"## {name}", *lines]) + "\n"


def run_legacy(model, observations, actions):
    from pymdp import utils
    from pymdp.agent import Agent

    states = [b.shape[0] for b in model["B"]]

    def over_all(tensor, on):
        """Returns the tensor over all factors, as this version of PyMDP requires it."""
        shape = [tensor.shape[0]] + [size if f in on else 1 for f, size in enumerate(states)]
        return np.broadcast_to(tensor.reshape(shape), [tensor.shape[0], *states]).copy()

    def objects(arrays):
        result = utils.obj_array(len(arrays))
        for index, array in enumerate(arrays):
            result[index] = array
        return result

    more = {}
    A, B = objects([over_all(a, on) for a, on in zip(model["A"], model["on"])]), objects(model["B"])
    if "pA" in model:
        more = dict(pA=objects([over_all(a, on) for a, on in zip(model["pA"], model["on"])]), pB=objects(model["pB"]))
        A, B = utils.norm_dist_obj_arr(more["pA"]), utils.norm_dist_obj_arr(more["pB"])
    agent = Agent(
        A=A,
        B=B,
        C=objects(model["C"]),
        D=objects(model["D"]),
        E=model["E"],
        policy_len=model["policy_len"],
        **more,
    )
    rows, before = [], None
    for observation, action in zip(observations, actions):
        qs = agent.infer_states(observation)
        if "pA" in model:
            agent.update_A(observation)
            if before is not None:
                agent.update_B(before)
        q_pi, score = agent.infer_policies()
        chosen = agent.sample_action()
        rows.append(row(qs, q_pi, score, chosen))
        before = objects([np.array(q) for q in qs])
        agent.action = np.array(action, dtype=float)
    return rows


def run_modern(model, observations, actions):
    import jax.numpy as jnp
    from pymdp.agent import Agent

    def arrays(values):
        return [jnp.asarray(value)[None] for value in values]

    more = {}
    A, B = model["A"], model["B"]
    if "pA" in model:
        more = dict(pA=arrays(model["pA"]), pB=arrays(model["pB"]), learn_A=True, learn_B=True)
        A, B = ([counts / counts.sum(0) for counts in model[name]] for name in ("pA", "pB"))
    agent = Agent(
        A=arrays(A),
        B=arrays(B),
        C=arrays(model["C"]),
        D=arrays(model["D"]),
        E=None if model["E"] is None else jnp.asarray(model["E"])[None],
        A_dependencies=model["on"],
        B_dependencies=[[f] for f in range(len(B))],
        policy_len=model["policy_len"],
        batch_size=1,
        **more,
    )
    rows, prior, before, taken = [], agent.D, None, None
    for observation, action in zip(observations, actions):
        qs = agent.infer_states([jnp.array([[o]]) for o in observation], prior)
        if "pA" in model:
            agent = learn(agent, observation, qs, before, taken)
        q_pi, score = agent.infer_policies(qs)
        chosen = agent.sample_action(q_pi)
        rows.append(row([q[0, -1] for q in qs], q_pi[0], score[0], chosen[0]))
        before, taken = qs, jnp.array([action])
        prior = agent.update_empirical_prior(taken, qs)
        prior = prior[0] if isinstance(prior, tuple) else prior
    return rows


def learn(agent, observation, qs, before, taken):
    import jax.numpy as jnp

    seen = [jnp.array([[o]]) for o in observation]
    # An action below 0 means that there is no previous step.
    earlier, actions = (qs, jnp.full((1, 1, len(qs)), -1)) if before is None else (before, taken[:, None])
    pair = [jnp.concatenate([b[:, -1:], q[:, -1:]], axis=1) for b, q in zip(earlier, qs)]
    return agent.infer_parameters(qs, seen, actions, beliefs_B=pair)


def row(beliefs, policies, scores, action):
    return {
        "beliefs": [np.asarray(belief).tolist() for belief in beliefs],
        "policies": np.asarray(policies).tolist(),
        "scores": np.asarray(scores).tolist(),
        "action": [int(a) for a in np.asarray(action).ravel()],
    }


def main():
    models = []
    for seed, (name, shape) in enumerate(SHAPES.items()):
        model, observations, actions = draw(seed, **shape)
        rows = (run_legacy if IS_LEGACY else run_modern)(model, observations, actions)
        models.append(
            {
                "name": name,
                "gnn": to_gnn(name, model),
                "policyLength": model["policy_len"],
                "observations": observations,
                "actions": actions,
                "rows": rows,
            }
        )
        print(name, file=sys.stderr)
    packages = ["inferactively-pymdp", "numpy"] + ([] if IS_LEGACY else ["jax"])
    versions = {package: importlib.metadata.version(package) for package in packages}
    json.dump({"madeBy": "test/interop/gnn/make_vectors.py", "versions": versions, "models": models}, sys.stdout)
    print()


main()
