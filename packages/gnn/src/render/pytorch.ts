import { arrayTarget } from "./array-python.ts";

/** Target for PyTorch. Programs use 64-bit numbers. */
export const pytorch = arrayTarget({
  title: "PyTorch",
  operations: `import torch

log, exp, einsum, solve = torch.log, torch.exp, torch.einsum, torch.linalg.solve


def array(values):
    return torch.as_tensor(np.asarray(values), dtype=torch.float64)


def at_least(values, least):
    return torch.clamp(values, min=least)


def to_numpy(values):
    return values.numpy()


def compiled(function):
    return function

`,
});
