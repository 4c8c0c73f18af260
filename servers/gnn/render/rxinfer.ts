import type { Tensor } from "../checks/tensor.ts";
import { ProgramError } from "../programs/program-error.ts";
import type { DiscreteAgent, DiscreteProgram, LinearGaussianProgram, Program } from "../programs/program.ts";
import { numberLines, stringLiteral } from "./literals.ts";
import { DISCRETE_RUN, LINEAR_RUN } from "./rxinfer-run.ts";
import type { RenderOptions, RenderTarget } from "./target.ts";

/** RxInfer.jl 4: states of one factor, or linear-Gaussian; policies are weighed in plain Julia. */
export const rxinfer: RenderTarget = {
  title: "RxInfer.jl",
  extension: ".jl",
  mimeType: "text/x-julia",
  families: ["discrete", "multi-agent", "learning (A)", "linear-gaussian"],
  write: (program, options) => (program.kind === "discrete" ? discrete(program, options) : linear(program)),
};

const HEAD = `# A model of Active Inference, rendered from GNN for RxInfer.jl.
#
#     julia PROGRAM.jl [STEPS [SEED]]
#
# prints a line for each step.
`;

function head({ title, notes, horizon }: Program): readonly string[] {
  return [
    HEAD,
    "using RxInfer, Random, LinearAlgebra",
    "",
    `const TITLE = ${stringLiteral(title)}`,
    `const NOTES = String[${notes.map(stringLiteral).join(", ")}]`,
    `const STEPS = ${Math.min(horizon ?? 20, 1000)}`,
    "",
    "# Numbers in the order of rows, which Julia has by columns.",
    "tensor(numbers, shape) = permutedims(reshape(numbers, reverse(shape)), length(shape):-1:1)",
    "",
  ];
}

function discrete(program: DiscreteProgram, { policyLength, gamma = 1 }: RenderOptions): string {
  if (program.arrangement === "levels")
    throw new ProgramError(
      program.agents[1]!.modalities[0]!.name,
      `${program.agents[1]!.modalities[0]!.name}: levels that run at paces of their own cannot be rendered to RxInfer.`,
    );
  if (program.window !== undefined)
    throw new ProgramError(
      "inference_algo",
      "inference_algo is MMP, and RxInfer passes the messages of the graph itself, which are others.",
    );
  program.agents.forEach(expectOneFactor);
  return [
    ...head(program),
    `const POLICY_LENGTH = ${policyLength}`,
    `const GAMMA = ${float(gamma)}`,
    "",
    "const AGENTS = [",
    ...program.agents.map(agentOf),
    "]",
    DISCRETE_RUN,
  ].join("\n");
}

function expectOneFactor({ factors, modalities }: DiscreteAgent): void {
  const [first, second] = factors;
  if (second)
    throw new ProgramError(
      second.name,
      `${second.name}: RxInfer takes one factor of states here, and there is ${first!.name} as well.`,
    );
  const learnt = factors.find(({ countsB }) => countsB);
  if (learnt)
    throw new ProgramError(
      `dirichlet_${learnt.name}`,
      `dirichlet_${learnt.name}: transitions that are learnt cannot be rendered to RxInfer.`,
    );
  const begun = factors.find(({ countsD }) => countsD);
  if (begun)
    throw new ProgramError(
      `dirichlet_${begun.name.replace(/^B/, "D")}`,
      `dirichlet_${begun.name.replace(/^B/, "D")}: a start that is learnt cannot be rendered to RxInfer.`,
    );
  const counted = modalities.find(({ countsA }) => countsA);
  if (counted && modalities.length > 1)
    throw new ProgramError(
      `dirichlet_${counted.name}`,
      `dirichlet_${counted.name}: RxInfer learns a likelihood here where it is the only one.`,
    );
  const blind = modalities.find(({ factors: on }) => on.length === 0);
  if (blind) throw new ProgramError(blind.name, `${blind.name} depends on no factor, which RxInfer cannot express.`);
}

function agentOf({ name, factors, modalities, E }: DiscreteAgent): string {
  const [factor] = factors;
  const list = (items: readonly string[]): string =>
    `[\n${items.map((item) => `            ${item},\n`).join("")}        ]`;
  return [
    "    (",
    `        name = ${stringLiteral(name)},`,
    `        A = ${list(modalities.map(({ A }) => juliaTensor(A)))},`,
    `        counts = ${list(modalities.map(({ countsA }) => (countsA ? juliaTensor(countsA) : "nothing")))},`,
    `        B = ${juliaTensor(factor!.B)},`,
    `        C = ${list(modalities.map(({ C }) => juliaVector(C)))},`,
    `        D = ${juliaVector(factor!.D)},`,
    `        E = ${E ? juliaVector(E) : "nothing"},`,
    "    ),",
  ].join("\n");
}

function juliaVector(numbers: Float64Array): string {
  return `Float64[${numberLines(numbers, " ".repeat(16))}]`;
}

function juliaTensor({ shape, data }: Tensor): string {
  return `tensor(${juliaVector(data)}, (${shape.join(", ")},))`;
}

function linear(program: LinearGaussianProgram): string {
  const { F, H, Q, R, mean, covariance } = program;
  return [
    ...head(program),
    ...Object.entries({ F, H, Q, R }).map(([name, tensor]) => `const ${name} = ${juliaTensor(tensor)}`),
    `const PRIOR_MEAN = ${juliaVector(mean)}`,
    `const PRIOR_COVARIANCE = ${juliaTensor(covariance)}`,
    LINEAR_RUN,
  ].join("\n");
}

function float(number: number): string {
  return Number.isInteger(number) && Math.abs(number) < 1e15 ? `${number}.0` : String(number);
}
