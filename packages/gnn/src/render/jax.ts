import { arrayTarget } from "./array-python.ts";

/** Target for JAX. Programs use 64-bit numbers and are compiled. */
export const jax = arrayTarget({
  title: "JAX",
  operations: `import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)
log, exp, einsum, solve, compiled = jnp.log, jnp.exp, jnp.einsum, jnp.linalg.solve, jax.jit


def array(values):
    return jnp.asarray(values, dtype=jnp.float64)


def at_least(values, least):
    return jnp.maximum(values, least)


def to_numpy(values):
    return np.asarray(values)

`,
});
