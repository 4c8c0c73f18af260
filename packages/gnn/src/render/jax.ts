import { arrayTarget } from "./array-python.ts";

/** In 64 bits, compiled by JAX. */
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
