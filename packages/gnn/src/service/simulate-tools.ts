import type { ModuleHub, ToolContext } from "toolyard";
import { UNREAD_CODES } from "../language/diagnostics.ts";
import { invalidNote, withNote } from "../programs/invalid-note.ts";
import { readPrograms, type NamedProgram } from "../programs/read-programs.ts";
import { SIMULATION_LIMITS } from "../simulate/limits.ts";
import { plotRun } from "../simulate/plot.ts";
import { toRunData, toRunText } from "../simulate/report.ts";
import { simulateModel } from "../simulate/simulate-model.ts";
import { METHODS, type MethodName, type SimulateOptions } from "../simulate/options.ts";
import type { Replay } from "../simulate/replay.ts";
import type { Simulation } from "../simulate/simulation.ts";
import { refusing, ToolFailure } from "./failure.ts";
import type { ModelFiles } from "./model-files.ts";
import { checkSource, type ModelSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";

interface SimulateArguments extends ModelSource {
  readonly model?: string | number;
  readonly steps?: number;
  readonly seed?: number;
  readonly library?: MethodName;
  readonly policy_length?: number;
  readonly gamma?: number;
  readonly alpha?: number;
  readonly action_selection?: "deterministic" | "stochastic";
  readonly observations?: Replay;
  readonly actions?: Replay;
}

const ROWS = {
  type: ["array", "object"],
  items: { type: "array", items: { type: "number" } },
  additionalProperties: {
    type: "array",
    items: { type: "array", items: { type: "number" } },
    maxItems: SIMULATION_LIMITS.steps,
  },
  maxItems: SIMULATION_LIMITS.steps,
};
const STEP_DESCRIPTION =
  "For an agent: observation, beliefs, free_energy, policies, negative_expected_free_energy with its parts " +
  "epistemic_value and pragmatic_value, and action. For a linear-Gaussian model: observation, mean, covariance and " +
  "free_energy.";
const NAMED = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

const INPUT = schemas.input({
  ...schemas.SOURCE_PROPERTIES,
  model: schemas.MODEL,
  steps: {
    type: "integer",
    minimum: 1,
    maximum: SIMULATION_LIMITS.steps,
    description: "Number of steps to run. Default: the steps of the replay, else the value in the model, else 20.",
  },
  seed: {
    type: "integer",
    minimum: 0,
    description:
      "Seed of the random numbers; the same seed gives the same run. Default: the value in the model, else 0.",
  },
  library: {
    type: "string",
    enum: Object.keys(METHODS),
    default: "pymdp-1",
    description: "Library that defines the inference and planning algorithms and the default values.",
  },
  ...schemas.PLANNING,
  alpha: {
    type: "number",
    minimum: 0,
    description:
      "Precision (inverse temperature) with which actions are sampled. Default: α of the model, else that of the " +
      "library.",
  },
  action_selection: {
    type: "string",
    enum: ["deterministic", "stochastic"],
    description:
      "Selection of actions: the best action, or an action sampled by its probability. Default: the value in " +
      "the model, else deterministic.",
  },
  observations: {
    ...ROWS,
    description:
      "Replayed observations: a row for each step with an outcome for each modality. For several agents, an object " +
      "with the rows of each agent. The run then uses these instead of observations that the model generates.",
  },
  actions: {
    ...ROWS,
    description:
      "Replayed actions: a row for each step with an action for each factor. For several agents or levels, an object " +
      "with the rows of each.",
  },
});

const RUN = {
  type: "object",
  properties: {
    title: { type: "string" },
    library: { type: "string" },
    seed: { type: "integer" },
    steps: { type: "integer" },
    policy_length: { type: "integer" },
    gamma: { type: "number" },
    notes: { type: "array", items: { type: "string" } },
    agents: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          factors: { type: "array", items: NAMED },
          modalities: { type: "array", items: NAMED },
          steps: { type: "array", items: { type: "object" }, description: STEP_DESCRIPTION },
          learnt_D: {
            type: "array",
            description: "Learnt initial state distribution of each factor; null if it is not learnt.",
          },
        },
        required: ["name", "factors", "modalities", "steps"],
      },
    },
  },
  required: ["title", "library", "seed", "steps", "notes", "agents"],
};

/** Output schema of one run. For several models, `models` contains the runs. */
const OUTPUT = {
  type: "object",
  properties: { ...RUN.properties, models: { type: "array", items: RUN } },
  anyOf: [{ required: RUN.required }, { required: ["models"] }],
};

/** Registers the tools that run models. */
export function registerSimulateTools(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<SimulateArguments>({
    name: "gnn.simulate",
    description:
      "Runs a GNN model for some steps. A discrete model (A, B, C, D, E) infers states, plans by expected free " +
      "energy and acts; a linear-Gaussian model (F, H, Q, R) is filtered. Returns each step as data, and a plot.",
    schema: INPUT,
    outputSchema: OUTPUT,
    keywords: ["run", "active inference", "POMDP", "PyMDP", "beliefs"],
    annotations: schemas.READS_FILES,
    handler: (args, context) => run(files, args, context),
  });
}

async function run(files: ModelFiles, args: SimulateArguments, context: ToolContext): Promise<object> {
  const programs = await programsOf(files, args);
  const runs: Simulation[] = [];
  for (const [index, one] of programs.entries()) {
    const onStep = (done: number, total: number): void =>
      void context.progress(index * total + done, programs.length * total);
    const options = { ...optionsOf(args), signal: context.signal, onStep };
    runs.push(await refusing(() => simulateModel(one, programs.length, options)));
  }
  const [first, second] = runs;
  return {
    content: runs.flatMap(contentOf),
    structuredContent: second ? { models: runs.map(toRunData) } : toRunData(first!),
  };
}

function contentOf(simulation: Simulation): readonly object[] {
  const plot = Buffer.from(plotRun(simulation)).toString("base64");
  return [
    { type: "text", text: toRunText(simulation) },
    { type: "image", data: plot, mimeType: "image/svg+xml" },
  ];
}

function optionsOf(args: SimulateArguments): SimulateOptions {
  const { library, policy_length: policyLength, action_selection: actionSelection } = args;
  const { steps, seed, gamma, alpha, observations, actions } = args;
  return {
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
    ...(gamma === undefined ? {} : { gamma }),
    ...(alpha === undefined ? {} : { alpha }),
    ...(observations ? { observations } : {}),
    ...(actions ? { actions } : {}),
    ...(library ? { method: library } : {}),
    ...(policyLength === undefined ? {} : { policyLength }),
    ...(actionSelection ? { actionSelection } : {}),
  };
}

/** Reads models of a text or a file as numbers: one model, or all. Rejects with a `ToolFailure`. */
export async function programsOf(
  files: ModelFiles,
  source: ModelSource & { readonly model?: string | number },
): Promise<readonly NamedProgram[]> {
  const { file, diagnostics } = await checkSource(files, source);
  const unread = diagnostics.find(({ code }) => code === "E013" || UNREAD_CODES.has(code));
  if (!unread && file.models.length > 0)
    return refusing(async () => withNote(readPrograms(file, source.model), invalidNote(diagnostics)));
  const place = unread ? ` Line ${unread.start.line}: ${unread.message}` : "";
  throw new ToolFailure(
    `A part of the model could not be read, so it was neither run nor rendered.${place}`,
    "invalid_params",
  );
}
