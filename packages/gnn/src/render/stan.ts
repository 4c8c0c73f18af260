import type { Tensor } from "../checks/tensor.ts";
import { ProgramError } from "../programs/program-error.ts";
import type { LinearGaussianProgram } from "../programs/program.ts";
import type { RenderTarget } from "./target.ts";

/** Target for Stan. Stan has no discrete unknowns, so only linear-Gaussian models are supported. */
export const stan: RenderTarget = {
  title: "Stan",
  extension: ".stan",
  mimeType: "text/x-stan",
  families: ["linear-gaussian"],
  lacks: ["run"],
  write: (program) => {
    if (program.kind === "linear-gaussian") return write(program);
    const [agent] = program.agents;
    throw new ProgramError(
      agent!.modalities[0]!.name,
      `${agent!.modalities[0]!.name} and ${agent!.factors[0]!.name} have discrete states, which Stan cannot infer. ` +
        "Render to pymdp, numpy, jax, pytorch or rxinfer.",
    );
  },
};

/**
 * Writes the program. It contains no text of the model, because Stan has no literal that could contain text safely.
 */
function write({ states, outcomes, F, H, Q, R, mean, covariance }: LinearGaussianProgram): string {
  return `// A linear-Gaussian model, rendered from GNN for Stan: states x, observations y.
data {
  int<lower=1> T;
  array[T] vector[${outcomes}] y;
}
transformed data {
  matrix[${states}, ${states}] F = ${matrix(F)};
  matrix[${outcomes}, ${states}] H = ${matrix(H)};
  cov_matrix[${states}] Q = ${matrix(Q)};
  cov_matrix[${outcomes}] R = ${matrix(R)};
  vector[${states}] prior_mean = [${[...mean].join(", ")}]';
  cov_matrix[${states}] prior_covariance = ${matrix(covariance)};
}
parameters {
  array[T] vector[${states}] x;
}
model {
  x[1] ~ multi_normal(prior_mean, prior_covariance);
  y[1] ~ multi_normal(H * x[1], R);
  for (t in 2:T) {
    x[t] ~ multi_normal(F * x[t - 1], Q);
    y[t] ~ multi_normal(H * x[t], R);
  }
}
generated quantities {
  vector[${outcomes}] y_next = multi_normal_rng(H * multi_normal_rng(F * x[T], Q), R);
}
`;
}

function matrix({ shape, data }: Tensor): string {
  const columns = shape[1]!;
  const rows = Array.from({ length: shape[0]! }, (_, row) =>
    [...data.subarray(row * columns, (row + 1) * columns)].join(", "),
  );
  return `[[${rows.join("], [")}]]`;
}
