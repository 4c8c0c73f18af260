import type { ModuleHub, ToolContext } from "toolyard";
import { UNREAD_CODES } from "../language/diagnostics.ts";
import { readPrograms, type NamedProgram } from "../programs/read-programs.ts";
import { SIMULATION_LIMITS } from "../simulate/limits.ts";
import { plotRun } from "../simulate/plot.ts";
import { toRunData, toRunText } from "../simulate/report.ts";
import { simulateModel } from "../simulate/simulate-model.ts";
import { METHODS, type MethodName, type SimulateOptions, type Simulation } from "../simulate/simulate.ts";
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
  readonly action_selection?: "deterministic" | "stochastic";
  readonly observations?: readonly (readonly number[])[];
  readonly actions?: readonly (readonly number[])[];
}

const ROWS = { type: "array", items: { type: "array", items: { type: "integer", minimum: 0 } } };
const NAMED = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

const INPUT = schemas.input({
  ...schemas.SOURCE_PROPERTIES,
  model: schemas.MODEL,
  steps: {
    type: "integer",
    minimum: 1,
    maximum: SIMULATION_LIMITS.steps,
    description: "Steps to run. Without it the horizon of the model, else 20.",
  },
  seed: { type: "integer", minimum: 0, default: 0, description: "The same seed gives the same run." },
  library: {
    type: "string",
    enum: Object.keys(METHODS),
    default: "pymdp-1",
    description: "Whose inference and planning, with its defaults.",
  },
  ...schemas.PLANNING,
  action_selection: { type: "string", enum: ["deterministic", "stochastic"], default: "deterministic" },
  observations: {
    ...ROWS,
    maxItems: SIMULATION_LIMITS.steps,
    description: "What is seen at each step, an outcome a modality, in place of the model's own world.",
  },
  actions: {
    ...ROWS,
    maxItems: SIMULATION_LIMITS.steps,
    description: "What is done at each step, an action a factor, in place of what the agent chooses.",
  },
});

const RUN = {
  type: "object",
  properties: {
    title: { type: "string" },
    library: { type: "string" },
    seed: { type: "integer" },
    steps: { type: "integer" },
    notes: { type: "array", items: { type: "string" } },
    agents: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          factors: { type: "array", items: NAMED },
          modalities: { type: "array", items: NAMED },
          steps: { type: "array", items: { type: "object" }, description: "Beliefs, policies and action of each." },
          learnt_D: { type: "array", description: "Where each factor starts, as learnt; null where it is not learnt." },
        },
        required: ["name", "factors", "modalities", "steps"],
      },
    },
  },
  required: ["title", "library", "seed", "steps", "notes", "agents"],
};

/** One run; of several models `models` in its place. */
const OUTPUT = {
  type: "object",
  properties: { ...RUN.properties, models: { type: "array", items: RUN } },
  anyOf: [{ required: RUN.required }, { required: ["models"] }],
};

/** Registers what runs models. */
export function registerSimulateTools(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<SimulateArguments>({
    name: "gnn.simulate",
    description:
      "Runs a discrete GNN model (A, B, C, D, E) for some steps: infers states, plans by " +
      "expected free energy, acts. Gives beliefs, policies and actions of each step, and a plot.",
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
  const { steps, seed, gamma, observations, actions } = args;
  return {
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
    ...(gamma === undefined ? {} : { gamma }),
    ...(observations ? { observations } : {}),
    ...(actions ? { actions } : {}),
    ...(library ? { method: library } : {}),
    ...(policyLength === undefined ? {} : { policyLength }),
    ...(actionSelection ? { actionSelection } : {}),
  };
}

/** Models of a text or a file in numbers: one, or all. Rejects with a `ToolFailure`. */
export async function programsOf(
  files: ModelFiles,
  source: ModelSource & { readonly model?: string | number },
): Promise<readonly NamedProgram[]> {
  const { file, diagnostics } = await checkSource(files, source);
  const unread = diagnostics.find(({ code }) => code === "E013" || UNREAD_CODES.has(code));
  if (!unread && file.models.length > 0) return refusing(async () => readPrograms(file, source.model));
  const place = unread ? ` Line ${unread.start.line}: ${unread.message}` : "";
  throw new ToolFailure(`The model cannot be read as a whole, so nothing is made of it.${place}`, "invalid_params");
}
