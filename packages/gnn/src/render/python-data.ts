import type { Tensor } from "../checks/tensor.ts";
import type { DiscreteAgent, DiscreteProgram, LinearGaussianProgram, Program } from "../programs/program.ts";
import { numberLines, stringLiteral } from "./literals.ts";
import type { RenderOptions } from "./target.ts";

/** Default values of a library. */
export interface LibraryDefaults {
  readonly gamma: number;
  readonly alpha: number;
  readonly iterations: number;
}

/** Default number of steps, for a program of a model that states none. */
export const USUAL_STEPS = 20;

/**
 * Returns the numbers of a discrete model as Python code. Texts of the model are literals, and all names are generated.
 */
export function pythonAgents(
  program: DiscreteProgram,
  { policyLength, gamma }: RenderOptions,
  usual: LibraryDefaults,
): string {
  const { settings } = program;
  return [
    `TITLE = ${stringLiteral(program.title)}`,
    `NOTES = [${program.notes.map(stringLiteral).join(", ")}]`,
    ...pythonRunSettings(program),
    `POLICY_LENGTH = ${policyLength}`,
    `GAMMA = ${gamma ?? settings.gamma ?? usual.gamma}`,
    "# True if actions are sampled, and the precision of sampling.",
    `STOCHASTIC = ${settings.actionSelection === "stochastic" ? "True" : "False"}`,
    `ALPHA = ${settings.alpha ?? usual.alpha}`,
    "# Factors of the counts that a step adds to the Dirichlet counts of A, B and D.",
    `LEARNING_RATES = {${ratesOf(program).join(", ")}}`,
    "# Weights of the parts of a score, and whether it includes the information gain about learnt A and B.",
    `EPISTEMIC_WEIGHT = ${settings.epistemicWeight ?? 1}`,
    `PRAGMATIC_WEIGHT = ${settings.pragmaticWeight ?? 1}`,
    `PARAMETER_GAIN = ${settings.hasParameterGain ? "True" : "False"}`,
    "# Maximum number of iterations of an inference.",
    `ITERATIONS = ${settings.iterations ?? usual.iterations}`,
    `# True if each agent is one level below the next one, and its steps for one step of that level.`,
    `IS_LEVELS = ${program.arrangement === "levels" ? "True" : "False"}`,
    `RATIOS = [${program.ratios.join(", ")}]`,
    "# Window of message passing in steps; 0 if only the current state is inferred.",
    `WINDOW = ${program.window ?? 0}`,
    "",
    "",
    "def tensor(numbers, shape):",
    "    return np.array(numbers, dtype=float).reshape(shape)",
    "",
    "",
    "AGENTS = [",
    ...program.agents.flatMap(agentLines),
    "]",
    "",
    "",
    "def believed_A(agent):",
    '    """The agent\'s own likelihoods; None: that of the world."""',
    '    return [a if own is None else own for a, own in zip(agent["A"], agent["believed_A"])]',
  ].join("\n");
}

function pythonRunSettings({ settings: { steps = USUAL_STEPS, seed = 0 } }: Program): readonly string[] {
  return [`STEPS = ${steps}`, `SEED = ${seed}`];
}

function pythonLabels(labels: readonly string[] | undefined): string {
  return labels ? `[${labels.map(stringLiteral).join(", ")}]` : "None";
}

function agentLines({ name, factors, modalities, E }: DiscreteAgent): readonly string[] {
  const entry = (key: string, items: readonly string[]): readonly string[] => [
    `        "${key}": [`,
    ...items.map((item) => `            ${item},`),
    "        ],",
  ];
  return [
    "    {",
    `        "name": ${stringLiteral(name)},`,
    `        "factors": [${factors.map((factor) => stringLiteral(factor.name)).join(", ")}],`,
    `        "modalities": [${modalities.map((modality) => stringLiteral(modality.name)).join(", ")}],`,
    `        "action_labels": [${factors.map((factor) => pythonLabels(factor.actionLabels)).join(", ")}],`,
    `        # Factors on which each likelihood depends.`,
    `        "on": [${modalities.map(({ factors: on }) => `[${on.join(", ")}]`).join(", ")}],`,
    `        # Factors on which each factor's next state depends.`,
    `        "from": [${factors.map(({ from }) => `[${from.join(", ")}]`).join(", ")}],`,
    ...entry(
      "A",
      modalities.map(({ A }) => pythonTensor(A)),
    ),
    ...entry(
      "believed_A",
      modalities.map(({ believedA }) => (believedA ? pythonTensor(believedA) : "None")),
    ),
    ...entry(
      "B",
      factors.map(({ B }) => pythonTensor(B)),
    ),
    ...entry(
      "C",
      modalities.map(({ C }) => pythonVector(C)),
    ),
    ...entry(
      "D",
      factors.map(({ D }) => pythonVector(D)),
    ),
    `        "E": ${E ? pythonVector(E) : "None"},`,
    ...entry(
      "counts_A",
      modalities.map(({ countsA }) => (countsA ? pythonTensor(countsA) : "None")),
    ),
    ...entry(
      "counts_B",
      factors.map(({ countsB }) => (countsB ? pythonTensor(countsB) : "None")),
    ),
    ...entry(
      "counts_D",
      factors.map(({ countsD }) => (countsD ? pythonVector(countsD) : "None")),
    ),
    "    },",
  ];
}

function pythonVector(numbers: Float64Array): string {
  return pythonTensor({ shape: [numbers.length], data: numbers });
}

function pythonTensor({ shape, data }: Tensor): string {
  return `tensor([${numberLines(data, " ".repeat(16))}], [${shape.join(", ")}])`;
}

/** Returns the numbers of a linear-Gaussian model as Python code. */
export function pythonMatrices(program: LinearGaussianProgram): string {
  const { F, H, Q, R, mean, covariance } = program;
  const line = (name: string, tensor: Tensor): string =>
    `${name} = np.array([${numberLines(tensor.data, "    ")}], dtype=float).reshape([${tensor.shape.join(", ")}])`;
  return [
    `TITLE = ${stringLiteral(program.title)}`,
    `NOTES = [${program.notes.map(stringLiteral).join(", ")}]`,
    ...pythonRunSettings(program),
    ...Object.entries({ F, H, Q, R }).map(([name, tensor]) => line(name, tensor)),
    line("PRIOR_MEAN", { shape: [mean.length], data: mean }),
    line("PRIOR_COVARIANCE", covariance),
  ].join("\n");
}

function ratesOf({ settings }: DiscreteProgram): readonly string[] {
  return (["A", "B", "D"] as const).map((letter) => `"${letter}": ${settings[`learningRate${letter}`] ?? 1}`);
}
