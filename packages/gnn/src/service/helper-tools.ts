import { pathToFileURL } from "node:url";
import type { ModuleHub } from "toolyard";
import { diffGnn } from "../helpers/diff.ts";
import { newModel, TEMPLATE_LIMITS, TEMPLATES, type TemplateName } from "../helpers/templates.ts";
import type { ModelFiles } from "./model-files.ts";
import { readSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";

interface NewArguments {
  readonly template?: TemplateName;
  readonly name?: string;
  readonly states?: number;
  readonly observations?: number;
  readonly actions?: number;
  readonly output_file_path?: string;
}

interface DiffArguments {
  readonly before_text?: string;
  readonly before_path?: string;
  readonly after_text?: string;
  readonly after_path?: string;
}

const SIZE = { type: "integer", minimum: 1, maximum: TEMPLATE_LIMITS.size, default: 2 };
const NAMES = Object.keys(TEMPLATES) as TemplateName[];

const NEW_INPUT = schemas.input({
  template: {
    type: "string",
    enum: NAMES,
    default: "pomdp",
    description: NAMES.map((name) => `\`${name}\`: ${TEMPLATES[name]}`).join("; "),
  },
  name: {
    type: "string",
    minLength: 1,
    maxLength: TEMPLATE_LIMITS.name,
    pattern: String.raw`^[^\r\n]+$`,
    default: "My model",
  },
  states: { ...SIZE, description: "Number of hidden states." },
  observations: { ...SIZE, description: "Number of outcomes of an observation." },
  actions: { ...SIZE, description: "Number of actions; only for the template `pomdp`." },
  output_file_path: { type: "string", description: "Path of a file to which the model is also written." },
});

/** Registers the tools that create and compare models. */
export function registerHelpers(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<NewArguments>({
    name: "gnn.new",
    description: "Creates a GNN model from a template: valid, with values, ready to be edited.",
    schema: NEW_INPUT,
    keywords: ["template", "create", "scaffold"],
    annotations: schemas.WRITES_FILES,
    handler: async ({ template = "pomdp", name = "My model", output_file_path: path, ...sizes }) => {
      const { states = 2, observations = 2, actions = 2 } = sizes;
      const text = newModel(template, { name, states, observations, actions });
      if (path === undefined) return { text };
      return { text, output_uri: pathToFileURL(await files.write(path, text)).href };
    },
  });
  hub.registerTool<DiffArguments>({
    name: "gnn.diff",
    description:
      "Returns the differences between two GNN models: variables, edges, values, time, terms. " +
      "Ignores layout, comments and order.",
    schema: schemas.input({
      before_text: { type: "string", description: "The first model as text. Give this or `before_path`." },
      before_path: { type: "string", description: "Path of the first model." },
      after_text: { type: "string", description: "The second model as text. Give this or `after_path`." },
      after_path: { type: "string", description: "Path of the second model." },
    }),
    keywords: ["compare", "difference"],
    annotations: schemas.READS_FILES,
    handler: async (args) => {
      const [before, after] = [
        await readSource(files, sourceOf(args.before_text, args.before_path)),
        await readSource(files, sourceOf(args.after_text, args.after_path)),
      ];
      const differences = diffGnn(before.file, after.file);
      return { same: differences.length === 0, differences };
    },
  });
}

function sourceOf(text: string | undefined, path: string | undefined): { text?: string; file_path?: string } {
  return { ...(text === undefined ? {} : { text }), ...(path === undefined ? {} : { file_path: path }) };
}
