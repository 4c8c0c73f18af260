import { arrayTarget } from "./array-python.ts";

/** Target for NumPy. Programs need no other package. */
export const numpy = arrayTarget({
  title: "NumPy",
  operations: `
log, exp, einsum, solve = np.log, np.exp, np.einsum, np.linalg.solve


def array(values):
    return np.asarray(values, dtype=float)


def at_least(values, least):
    return np.maximum(values, least)


def to_numpy(values):
    return values


def compiled(function):
    return function

`,
});
