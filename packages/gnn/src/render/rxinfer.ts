import type { Tensor } from "../checks/tensor.ts";
import { ProgramError } from "../programs/program-error.ts";
import type { DiscreteAgent, DiscreteProgram, LinearGaussianProgram, Program } from "../programs/program.ts";
import { numberLines, stringLiteral } from "./literals.ts";
import { USUAL_STEPS } from "./python-data.ts";
import { agentGraph } from "./rxinfer-graph.ts";
import { DISCRETE_RUN, LINEAR_RUN } from "./rxinfer-run.ts";
import type { RenderOptions, RenderTarget } from "./target.ts";

/** Target for RxInfer.jl 4 and 5. States are inferred in its graphs; policies are evaluated in plain Julia. */
export const rxinfer: RenderTarget = {
  title: "RxInfer.jl",
  extension: ".jl",
  mimeType: "text/x-julia",
  families: ["discrete", "factored", "hierarchical", "multi-agent", "learning", "linear-gaussian"],
  lacks: ["stochastic", "labels", "parameterGain"],
  write: (program, options) => (program.kind === "discrete" ? discrete(program, options) : linear(program)),
};

const HEAD = `# An Active Inference model, rendered from GNN for RxInfer.jl.
#
#     julia PROGRAM.jl [STEPS [SEED]]
#
# prints a line of JSON for each step.
`;

function head({ title, notes, settings: { steps = USUAL_STEPS, seed = 0 } }: Program): readonly string[] {
  return [
    HEAD,
    "using RxInfer, Random, LinearAlgebra",
    "",
    `const TITLE = ${stringLiteral(title)}`,
    `const NOTES = String[${notes.map(stringLiteral).join(", ")}]`,
    `const STEPS = ${steps}`,
    `const SEED = ${seed}`,
    "",
    "# Numbers in row-major order; Julia stores them in column-major order.",
    "tensor(numbers, shape) = permutedims(reshape(numbers, reverse(shape)), length(shape):-1:1)",
    "",
  ];
}

function discrete(
  program: DiscreteProgram,
  { policyLength, gamma = program.settings.gamma ?? 1 }: RenderOptions,
): string {
  if (program.window !== undefined)
    throw new ProgramError(
      "inference_algo",
      "inference_algo is MMP, but RxInfer passes different messages, those of its graph.",
    );
  return [
    ...head(program),
    `const POLICY_LENGTH = ${policyLength}`,
    `const GAMMA = ${float(gamma)}`,
    "# Factors of the counts that a step adds to the Dirichlet counts, and weights of the parts of a score.",
    `const LEARNING_RATES = (${ratesOf(program).join(", ")})`,
    `const EPISTEMIC_WEIGHT = ${float(program.settings.epistemicWeight ?? 1)}`,
    `const PRAGMATIC_WEIGHT = ${float(program.settings.pragmaticWeight ?? 1)}`,
    "# True if each agent is one level below the next one, and its steps for one step of that level.",
    `const IS_LEVELS = ${program.arrangement === "levels"}`,
    `const RATIOS = Int[${program.ratios.join(", ")}]`,
    "",
    "# Inference at one step with RxInfer, from the observation and the expected state of each factor.",
    ...program.agents.map((agent, index) => agentGraph(agent, index + 1, program.settings.iterations)),
    "const AGENTS = [",
    ...program.agents.map(agentOf),
    "]",
    DISCRETE_RUN,
  ].join("\n");
}

function agentOf({ name, factors, modalities, E }: DiscreteAgent, index: number): string {
  const list = (items: readonly string[]): string =>
    `Any[\n${items.map((item) => `            ${item},\n`).join("")}        ]`;
  const places = (all: readonly (readonly number[])[]): string =>
    `[${all.map((on) => `Int[${on.map((factor) => factor + 1).join(", ")}]`).join(", ")}]`;
  const counted = (counts: Tensor | undefined): string => (counts ? juliaTensor(counts) : "nothing");
  return [
    "    (",
    `        name = ${stringLiteral(name)},`,
    `        infer = infer_${index + 1},`,
    "        # Factors on which each likelihood, and each factor's next state, depend.",
    `        on = ${places(modalities.map(({ factors: on }) => on))},`,
    `        from = ${places(factors.map(({ from }) => from))},`,
    `        A = ${list(modalities.map(({ A }) => juliaTensor(A)))},`,
    "        # The agent's own likelihoods; nothing: that of the world.",
    `        believed_A = ${list(modalities.map(({ believedA }) => counted(believedA)))},`,
    `        B = ${list(factors.map(({ B }) => juliaTensor(B)))},`,
    `        C = ${list(modalities.map(({ C }) => juliaVector(C)))},`,
    `        D = ${list(factors.map(({ D }) => juliaVector(D)))},`,
    `        E = ${E ? juliaVector(E) : "nothing"},`,
    "        # Dirichlet counts of the learnt tensors.",
    `        counts_A = ${list(modalities.map(({ countsA }) => counted(countsA)))},`,
    `        counts_B = ${list(factors.map(({ countsB }) => counted(countsB)))},`,
    `        counts_D = ${list(factors.map(({ countsD }) => (countsD ? juliaVector(countsD) : "nothing")))},`,
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

function ratesOf({ settings }: DiscreteProgram): readonly string[] {
  const letters = ["A", "B", "D"] as const;
  return letters.map((letter) => `${letter} = ${float(settings[`learningRate${letter}`] ?? 1)}`);
}
