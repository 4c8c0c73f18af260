import { pathToFileURL } from "node:url";
import type { ModuleHub } from "toolyard";
import { importGnn } from "../exports/formats.ts";
import { viewOf } from "../language/view.ts";
import { ProgramError } from "../programs/program-error.ts";
import type { Program } from "../programs/program.ts";
import { readProgram } from "../programs/read-program.ts";
import type { RenderOptions } from "../render/target.ts";
import { RENDER_TARGETS, renderProgram, type RenderTargetName } from "../render/targets.ts";
import { SIMULATION_LIMITS } from "../simulate/limits.ts";
import { ToolFailure } from "./failure.ts";
import type { ModelFiles } from "./model-files.ts";
import type { ModelSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";
import { programOf } from "./simulate-tools.ts";

interface Options {
  readonly policy_length?: number;
  readonly gamma?: number;
}

interface RenderArguments extends ModelSource, Options {
  readonly target_format: RenderTargetName;
}

interface SpecificationArguments {
  readonly gnn_specification: string | object;
  readonly target_format: RenderTargetName;
  readonly output_filename_base?: string;
  readonly render_options?: Options;
}

interface FileArguments {
  readonly gnn_file_path: string;
  readonly output_file_path: string;
}

const TARGET_NAMES = Object.keys(RENDER_TARGETS) as RenderTargetName[];
/** Lines of a program that its preview has. */
const PREVIEW_LINES = 20;

const TARGET = { type: "string", enum: TARGET_NAMES, description: "What the program is written for." };
const OPTIONS = {
  policy_length: {
    type: "integer",
    minimum: 1,
    maximum: SIMULATION_LIMITS.policyLength,
    default: 1,
    description: "Actions of a policy: how far the agent plans.",
  },
  gamma: { type: "number", minimum: 0, description: "Precision of policies. Without it that of the target." },
};

/** Registers what turns models into programs. */
export function registerRenderTools(hub: ModuleHub, files: ModelFiles): void {
  registerRender(hub, files);
  registerSpecification(hub, files);
  for (const name of TARGET_NAMES) registerFileTool(hub, files, name);
  hub.registerTool({
    name: "render.list_render_targets",
    description: "What GNN models can be rendered to, and which kinds of models each target can express.",
    schema: schemas.input({}),
    aliases: ["list_render_targets"],
    annotations: schemas.READS_FILES,
    handler: async () => ({
      targets: TARGET_NAMES.map((name) => {
        const { title, extension, families } = RENDER_TARGETS[name];
        return { name, title, extension, families };
      }),
    }),
  });
}

function registerRender(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<RenderArguments>({
    name: "gnn.render",
    description: "Writes a GNN model (the first of a file) as a program that runs it, and gives its text.",
    schema: schemas.input({ ...schemas.SOURCE_PROPERTIES, target_format: TARGET, ...OPTIONS }, ["target_format"]),
    outputSchema: {
      type: "object",
      properties: {
        target_format: { type: "string" },
        program: { type: "string" },
        notes: { type: "array", items: { type: "string" }, description: "What of the model is not in the program." },
      },
      required: ["target_format", "program", "notes"],
    },
    keywords: ["code", "PyMDP", "RxInfer", "JAX", "PyTorch", "Stan"],
    annotations: schemas.READS_FILES,
    handler: async ({ target_format: target, policy_length, gamma, ...source }) =>
      refusing(async () => {
        const program = await programOf(files, source);
        const text = renderProgram(program, target, optionsOf({ policy_length, gamma }));
        return { target_format: target, program: text, notes: program.notes };
      }),
  });
}

function registerSpecification(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<SpecificationArguments>({
    name: "render.render_gnn_specification",
    description: "Renders a GNN model to a program for a simulation library, and writes it where a name is given.",
    schema: schemas.input(
      {
        gnn_specification: {
          type: ["string", "object"],
          description: "Path of a GNN file (or of an export to JSON, XML, CBOR), or the data of an export to JSON.",
        },
        target_format: TARGET,
        output_filename_base: {
          type: "string",
          pattern: String.raw`^[A-Za-z0-9_][A-Za-z0-9_.\- ]{0,99}$`,
          description: "Name of the file to write, without its ending. Without it none is written.",
        },
        render_options: schemas.input(OPTIONS),
      },
      ["gnn_specification", "target_format"],
    ),
    aliases: ["render_gnn_specification"],
    annotations: schemas.WRITES_FILES,
    handler: (args) => refusing(() => renderSpecification(files, args)),
  });
}

async function renderSpecification(files: ModelFiles, args: SpecificationArguments): Promise<object> {
  const { gnn_specification: given, target_format: target, output_filename_base: base, render_options = {} } = args;
  const program = await (typeof given === "string" ? programOf(files, { file_path: given }) : programOfData(given));
  const text = renderProgram(program, target, optionsOf(render_options));
  const { title, extension } = RENDER_TARGETS[target];
  const uri = base === undefined ? {} : { artifact_uri: pathToFileURL(await files.write(base + extension, text)).href };
  return {
    success: true,
    message: [`The model ${program.title} was rendered to ${title}.`, ...program.notes].join(" "),
    ...uri,
    rendered_content_preview: text.split("\n").slice(0, PREVIEW_LINES).join("\n"),
  };
}

async function programOfData(data: object): Promise<Program> {
  try {
    const [model] = importGnn(JSON.stringify(data)).file.models;
    if (model) return readProgram(viewOf(model));
  } catch (error) {
    if (error instanceof ProgramError) throw error;
    throw new ToolFailure(`gnn_specification is no model: ${(error as Error).message}`, "invalid_params");
  }
  throw new ToolFailure("gnn_specification holds no model.", "invalid_params");
}

function registerFileTool(hub: ModuleHub, files: ModelFiles, name: RenderTargetName): void {
  const { title } = RENDER_TARGETS[name];
  hub.registerTool<FileArguments>({
    name: `render.render_gnn_to_${name}_mcp`,
    description: `Renders a GNN model specified by a file path to a program for ${title}.`,
    schema: schemas.input(
      {
        gnn_file_path: { type: "string", description: "Path to the input GNN file." },
        output_file_path: { type: "string", description: "Path of the file to write; one that is there is replaced." },
      },
      ["gnn_file_path", "output_file_path"],
    ),
    aliases: [`render_gnn_to_${name}`],
    annotations: schemas.WRITES_FILES,
    handler: ({ gnn_file_path: from, output_file_path: to }) =>
      refusing(async () => {
        const program = await programOf(files, { file_path: from });
        const path = await files.write(to, renderProgram(program, name));
        const message = [`GNN model from ${from} rendered to ${to} for ${title}.`, ...program.notes].join(" ");
        return { status: "success", message, output_uri: pathToFileURL(path).href };
      }),
  });
}

function optionsOf({
  policy_length: policyLength,
  gamma,
}: { [K in keyof Options]: Options[K] | undefined }): Partial<RenderOptions> {
  return {
    ...(policyLength === undefined ? {} : { policyLength }),
    ...(gamma === undefined ? {} : { gamma }),
  };
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ProgramError ? new ToolFailure(error.message, "invalid_params") : error;
  }
}
