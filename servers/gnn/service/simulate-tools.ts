import type { ModuleHub, ToolContext } from "toolyard";
import { UNREAD_CODES } from "../language/diagnostics.ts";
import { viewOf } from "../language/view.ts";
import { ProgramError } from "../programs/program-error.ts";
import type { Program } from "../programs/program.ts";
import { readProgram } from "../programs/read-program.ts";
import { SIMULATION_LIMITS } from "../simulate/limits.ts";
import { plotRun } from "../simulate/plot.ts";
import { toRunData, toRunText } from "../simulate/report.ts";
import { METHODS, simulate, type MethodName } from "../simulate/simulate.ts";
import { ToolFailure } from "./failure.ts";
import type { ModelFiles } from "./model-files.ts";
import { checkSource, type ModelSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";

interface SimulateArguments extends ModelSource {
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
  policy_length: {
    type: "integer",
    minimum: 1,
    maximum: SIMULATION_LIMITS.policyLength,
    default: 1,
    description: "Actions of a policy: how far the agent plans.",
  },
  gamma: { type: "number", minimum: 0, description: "Precision of policies; 1 without it, and 16 for pymdp-0.0.7." },
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

const OUTPUT = {
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
        },
        required: ["name", "factors", "modalities", "steps"],
      },
    },
  },
  required: ["title", "library", "seed", "steps", "notes", "agents"],
};

/** Registers what runs models. */
export function registerSimulateTools(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<SimulateArguments>({
    name: "gnn.simulate",
    description:
      "Runs a discrete GNN model (A, B, C, D, E; the first of a file) for some steps: infers states, plans by " +
      "expected free energy, acts. Gives beliefs, policies and actions of each step, and a plot.",
    schema: INPUT,
    outputSchema: OUTPUT,
    keywords: ["run", "active inference", "POMDP", "PyMDP", "beliefs"],
    annotations: schemas.READS_FILES,
    handler: (args, context) => run(files, args, context),
  });
}

async function run(files: ModelFiles, args: SimulateArguments, context: ToolContext): Promise<object> {
  const { library, policy_length: policyLength, action_selection: actionSelection } = args;
  const { steps, seed, gamma, observations, actions } = args;
  try {
    const simulation = await simulate(await programOf(files, args), {
      ...(steps === undefined ? {} : { steps }),
      ...(seed === undefined ? {} : { seed }),
      ...(gamma === undefined ? {} : { gamma }),
      ...(observations ? { observations } : {}),
      ...(actions ? { actions } : {}),
      ...(library ? { method: library } : {}),
      ...(policyLength === undefined ? {} : { policyLength }),
      ...(actionSelection ? { actionSelection } : {}),
      signal: context.signal,
      onStep: (done, total) => context.progress(done, total),
    });
    const plot = Buffer.from(plotRun(simulation)).toString("base64");
    return {
      content: [
        { type: "text", text: toRunText(simulation) },
        { type: "image", data: plot, mimeType: "image/svg+xml" },
      ],
      structuredContent: toRunData(simulation),
    };
  } catch (error) {
    throw error instanceof ProgramError ? new ToolFailure(error.message, "invalid_params") : error;
  }
}

/** The first model of a text or a file, in numbers. Throws a `ProgramError` or a `ToolFailure`. */
export async function programOf(files: ModelFiles, source: ModelSource): Promise<Program> {
  const { file, diagnostics } = await checkSource(files, source);
  const unread = diagnostics.find(({ code }) => code === "E013" || UNREAD_CODES.has(code));
  const [model] = file.models;
  if (!unread && model) return readProgram(viewOf(model));
  const place = unread ? ` Line ${unread.start.line}: ${unread.message}` : "";
  throw new ToolFailure(`The model cannot be read as a whole, so nothing is made of it.${place}`, "invalid_params");
}
