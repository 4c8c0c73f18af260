"""Compares runs of GNN models with PyMDP agents that are built from the statements of the files.

    python from_statements.py < JOBS

Each line of standard input is `{"file": PATH, "rows": ROWS}`, where ROWS is the output of `toolyard gnn run --json`.
This program reads the file by itself: tensors, their order, E, and the settings of ModelParameters. It runs the agents
of the installed PyMDP (0.0.7 or 1.x) with the observations and actions of the rows, and prints a line of JSON with the
largest difference of beliefs, scores and policies.
"""

import ast
import importlib.metadata
import itertools
import json
import os
import re
import sys

os.environ.setdefault("JAX_ENABLE_X64", "True")
import numpy as np

IS_LEGACY = importlib.metadata.version("inferactively-pymdp").startswith("0.")
ORDERS = ["next previous action", "action next previous", "previous next action", "action previous next"]


def sections(path):
    """The lines of each section without comments."""
    found, name = {}, None
    for line in open(path, encoding="utf8"):
        heading = re.match(r"^## *([A-Za-z]+)", line)
        if heading:
            name = heading[1]
        elif name:
            found.setdefault(name, []).append(line.split("#")[0].rstrip())
    return found


def tensors(lines):
    """The values that are numbers in brackets."""
    values = {}
    for name, text in re.findall(r"^(\S+?) *= *(\{[^{}]*\}|\[.*\])$", "\n".join(lines), re.M):
        try:
            numbers = ast.literal_eval("[" + re.sub(r"[()]", lambda m: "[" if m[0] == "(" else "]", text[1:-1]) + "]")
            values[name] = np.array(numbers, dtype=float)
            # Brackets around a whole slice are a dimension of 1 that nothing declares.
            if values[name].ndim > 3 or text[0] == "[":
                values[name] = values[name].reshape([n for n in values[name].shape if n > 1])
        except (TypeError, ValueError, SyntaxError):
            pass
    return values


def parameters(lines):
    found = {}
    for line in lines:
        stated = re.match(r"^([^\s:=]+) *[:=] *(.+)$", line)
        if stated:
            found[stated[1]] = stated[2].strip()
    return found


def number(stated, *names):
    for name in names:
        if name in stated:
            return float(np.ravel(stated[name])[0]) if isinstance(stated[name], np.ndarray) else float(stated[name])
    return None


def is_probable(table):
    return np.allclose(table.sum(0), 1, atol=0.02) and (table >= 0).all()


def turned(table, order):
    axes = order.split()
    return table.transpose([axes.index(axis) for axis in ("next", "previous", "action")])


def transitions(table, order):
    if table.ndim == 3 and table.shape[0] == 1 and table.shape[1] == table.shape[2]:
        table = table[0]
    if table.ndim == 2:
        table = table if is_probable(table) else table.T
        return table[:, :, None]
    tries = [order] if order else ORDERS
    fitting = [b for b in (turned(table, one) for one in tries) if b.shape[0] == b.shape[1] and is_probable(b)]
    return fitting[0] / fitting[0].sum(0)


def likelihood(table, states):
    if table.ndim == 2 and not (table.shape[1] == states and is_probable(table)):
        table = table.T
    return table / table.sum(0)


def agents_of(path):
    """The parts of each agent of a model without levels."""
    found = sections(path)
    values = tensors(found.get("InitialParameterization", []))
    stated = parameters([*found.get("InitialParameterization", []), *found.get("ModelParameters", [])])
    order = re.sub("_?states?|_(?=$)", "", stated.get("b_tensor_order", "")).replace("_", " ").strip()
    both = {**stated, **values}
    gamma = number(both, "gamma", "γ", "policy_precision")
    beta = number(both, "beta", "β")
    omega = number(both, "omega", "ω", "sensory_precision") or 1.0
    settings = {
        "policy_len": int(number(stated, "policy_len", "planning_horizon") or 1),
        "gamma": gamma if gamma is not None else (1 / beta if beta else None),
        "iterations": number(stated, "num_iter", "inference_iterations"),
    }
    names = sorted({m[0] for name in values if (m := re.search(r"_agent\d+", name))}, key=lambda s: int(s[6:])) or [""]
    joined = re.findall(r"^\(?([^)\n>-]*)\)? *[->] *\(?([^)\n]*)\)?$", "\n".join(found.get("Connections", [])), re.M)
    return [agent_of(values, name, order, omega, joined) for name in names], settings


def agent_of(values, name, order, omega, joined):
    def pick(letter):
        """Tensors of a letter: plain, numbered, or named by a word, in their order in the file."""
        is_numbered = name or letter in values or has_numbers(values, letter)
        pattern = rf"^{letter}{name}(?:_[mf]?\d+)?$" if is_numbered else rf"^{letter}_\w+$"
        return {key: value for key, value in values.items() if re.match(pattern, key)}

    B = [transitions(table, order) for table in pick("B").values()]
    D = [table.ravel() / table.sum() for table in pick("D").values()]
    B = B or [np.eye(len(d))[:, :, None] for d in D]
    D = D or [np.full(len(b), 1 / len(b)) for b in B]
    states = [len(b) for b in B]
    A, on = [], []
    for key, table in pick("A").items():
        every = list(range(len(B)))
        factors = every if table.ndim - 1 == len(B) else [i for i in every if edge(joined, key, i)]
        on.append(factors)
        own = likelihood(table, states[factors[0]])
        own = own**omega
        A.append(own / own.sum(0))
    preferences = {re.sub("^C", "", key): table.ravel() for key, table in pick("C").items()}
    C = [preferences.get(re.sub("^A", "", key), np.zeros(len(a))) for key, a in zip(pick("A"), A)]
    E = values.get("E" + name)
    counts = values.get("dirichlet_A" + name)
    return dict(A=A, B=B, C=C, D=D, E=None if E is None else E.ravel(), on=on, pA=None if counts is None else [counts])


def has_numbers(values, letter):
    return any(re.match(rf"^{letter}_[mf]?\d+$", key) for key in values)


def edge(joined, key, factor):
    names = [re.split(r"[ ,]+", f"{one},{other}") for one, other in joined]
    return any(key in one and f"s_f{factor}" in one for one in names)


def habits(agent, policy_len):
    """E over policies; of E over actions, the product along each policy."""
    actions = int(np.prod([b.shape[-1] for b in agent["B"]]))
    if agent["E"] is None or len(agent["E"]) == actions**policy_len:
        return agent["E"]
    return np.array([np.prod(one) for one in itertools.product(agent["E"], repeat=policy_len)])


def objects(arrays):
    result = np.empty(len(arrays), dtype=object)
    for index, array in enumerate(arrays):
        result[index] = np.asarray(array, dtype=float)
    return result


def run_legacy(agent, settings, rows):
    from pymdp.agent import Agent

    states = [len(b) for b in agent["B"]]

    def over_all(table, on):
        shape = [size if factor in on else 1 for factor, size in enumerate(states)]
        return np.broadcast_to(table.reshape([len(table), *shape]), [len(table), *states]).copy()

    counts = None if agent["pA"] is None else objects([over_all(c, on) for c, on in zip(agent["pA"], agent["on"])])
    A = [over_all(a, on) for a, on in zip(agent["A"], agent["on"])]
    A = A if counts is None else [c / c.sum(0) for c in counts]
    more = {} if settings["gamma"] is None else {"gamma": settings["gamma"]}
    if settings["iterations"]:
        more["inference_params"] = {"num_iter": int(settings["iterations"]), "dF": 1.0, "dF_tol": 0.001}
    mind = Agent(
        A=objects(A), B=objects(agent["B"]), C=objects(agent["C"]), D=objects(agent["D"]), pA=counts,
        E=habits(agent, settings["policy_len"]), policy_len=settings["policy_len"], **more,
    )
    for row in rows:
        beliefs = mind.infer_states(row["observation"])
        if counts is not None:
            mind.update_A(row["observation"])
        policies, scores = mind.infer_policies()
        yield beliefs, policies, scores, None
        mind.action = np.array(row["action"], dtype=float)


def run_modern(agent, settings, rows):
    import jax.numpy as jnp
    from pymdp.agent import Agent

    batch = lambda arrays: [jnp.asarray(array)[None] for array in arrays]
    more = {} if settings["gamma"] is None else {"gamma": settings["gamma"]}
    if settings["iterations"]:
        more["num_iter"] = int(settings["iterations"])
    E = habits(agent, settings["policy_len"])
    learns = agent["pA"] is not None
    A = [c / c.sum(0) for c in agent["pA"]] if learns else agent["A"]
    mind = Agent(
        A=batch(A), B=batch(agent["B"]), C=batch(agent["C"]), D=batch(agent["D"]),
        E=None if E is None else jnp.asarray(E)[None], A_dependencies=agent["on"],
        B_dependencies=[[f] for f in range(len(agent["B"]))], policy_len=settings["policy_len"], batch_size=1,
        pA=batch(agent["pA"]) if learns else None, learn_A=learns, **more,
    )
    prior, taken = mind.D, None
    for row in rows:
        seen = [jnp.array([[outcome]]) for outcome in row["observation"]]
        beliefs, info = mind.infer_states(seen, prior, return_info=True)
        if learns:
            action = jnp.full((1, 1, len(beliefs)), -1) if taken is None else taken[:, None]
            mind = mind.infer_parameters(beliefs, seen, action)
        policies, scores = mind.infer_policies(beliefs)
        yield [np.asarray(b)[0, -1] for b in beliefs], policies[0], scores[0], float(np.asarray(info["vfe"]).mean())
        taken = jnp.array([row["action"]])
        prior = mind.update_empirical_prior(taken, beliefs)
        prior = prior[0] if isinstance(prior, tuple) else prior


def distance(job):
    agents, settings = agents_of(job["file"])
    worst = 0.0
    for agent, rows in zip(agents, job["rows"]["agents"], strict=True):
        steps = rows["steps"]
        for row, found in zip(steps, (run_legacy if IS_LEGACY else run_modern)(agent, settings, steps), strict=True):
            beliefs, policies, scores, energy = found
            pairs = [*zip(row["beliefs"], beliefs, strict=True)]
            pairs += [(row["policies"], policies), (row["negative_expected_free_energy"], scores)]
            if energy is not None:
                pairs.append(([row["free_energy"]], [energy]))
            for one, other in pairs:
                worst = max(worst, float(np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float)).max()))
    return {"distance": worst, "settings": settings}


if __name__ == "__main__":
    for line in sys.stdin:
        job = json.loads(line)
        try:
            result = distance(job)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"file": job["file"], **result}), flush=True)
