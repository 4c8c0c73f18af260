import { pathToFileURL } from "node:url";
import type { ModuleHub } from "toolyard";
import { importGnn, type ImportedFile } from "../exports/formats.ts";
import { pathOf } from "../language/choose-models.ts";
import { readPrograms, type NamedProgram } from "../programs/read-programs.ts";
import { renderPrograms, type RenderedProgram } from "../render/render-programs.ts";
import type { RenderOptions } from "../render/target.ts";
import { RENDER_TARGETS, type RenderTargetName } from "../render/targets.ts";
import { refusing, ToolFailure } from "./failure.ts";
import type { ModelFiles } from "./model-files.ts";
import type { ModelSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";
import { programsOf } from "./simulate-tools.ts";

interface Options {
  readonly policy_length?: number;
  readonly gamma?: number;
}

interface RenderArguments extends ModelSource, Options {
  readonly target_format: RenderTargetName;
  readonly model?: string | number;
}

interface SpecificationArguments {
  readonly gnn_specification: string | object;
  readonly target_format: RenderTargetName;
  readonly output_filename_base?: string;
  readonly render_options?: Options & { readonly model?: string | number };
}

interface RenderFileArguments {
  readonly gnn_file_path: string;
  readonly output_file_path: string;
}

const TARGET_NAMES = Object.keys(RENDER_TARGETS) as RenderTargetName[];
/** Number of lines in the preview of a program. */
const PREVIEW_LINES = 20;

const TARGET = { type: "string", enum: TARGET_NAMES, description: "Library or language of the program." };

/** Registers the tools that render models as programs. */
export function registerRenderTools(hub: ModuleHub, files: ModelFiles): void {
  registerRender(hub, files);
  registerSpecification(hub, files);
  for (const name of TARGET_NAMES) registerFileTool(hub, files, name);
  hub.registerTool({
    name: "render.list_render_targets",
    description: "Targets of rendering, with the kinds of models that each target supports.",
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

const RENDERED = {
  program: { type: "string" },
  notes: {
    type: "array",
    items: { type: "string" },
    description: "Parts of the model that the program does not contain.",
  },
};

function registerRender(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<RenderArguments>({
    name: "gnn.render",
    description:
      "Renders a GNN model as a program that runs it. Returns the text of the program, or one program per model.",
    schema: schemas.input(
      { ...schemas.SOURCE_PROPERTIES, model: schemas.MODEL, target_format: TARGET, ...schemas.PLANNING },
      ["target_format"],
    ),
    outputSchema: {
      type: "object",
      properties: {
        target_format: { type: "string" },
        ...RENDERED,
        models: {
          type: "array",
          description: "Programs of the models, instead of `program` and `notes`, if the file has several models.",
          items: { type: "object", properties: { model: { type: "string" }, ...RENDERED } },
        },
      },
      required: ["target_format"],
    },
    keywords: ["code", "PyMDP", "RxInfer", "JAX", "PyTorch", "Stan"],
    annotations: schemas.READS_FILES,
    handler: async ({ target_format: target, policy_length, gamma, ...source }) =>
      refusing(async () => {
        const rendered = renderPrograms(await programsOf(files, source), target, optionsOf({ policy_length, gamma }));
        const results = rendered.map(({ label, text, notes }) => ({ model: label, program: text, notes }));
        const [{ program, notes } = { program: "", notes: [] }, second] = results;
        return { target_format: target, ...(second ? { models: results } : { program, notes }) };
      }),
  });
}

function registerSpecification(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<SpecificationArguments>({
    name: "render.render_gnn_specification",
    description:
      "Renders a GNN model to a program for a simulation library, and writes it to a file if " +
      "`output_filename_base` is given.",
    schema: schemas.input(
      {
        gnn_specification: {
          type: ["string", "object"],
          description: "Path of a GNN file or of its export to JSON, XML or CBOR; or the data of an export to JSON.",
        },
        target_format: TARGET,
        output_filename_base: {
          type: "string",
          pattern: String.raw`^[A-Za-z0-9_][A-Za-z0-9_.\- ]{0,99}$`,
          description: "Name of the output file without extension. Omitted: no file is written.",
        },
        render_options: schemas.input({ model: schemas.MODEL, ...schemas.PLANNING }),
      },
      ["gnn_specification", "target_format"],
    ),
    aliases: ["render_gnn_specification"],
    annotations: schemas.WRITES_FILES,
    handler: (args) => refusing(() => renderSpecification(files, args)),
  });
}

async function renderSpecification(files: ModelFiles, args: SpecificationArguments): Promise<object> {
  const { gnn_specification: given, target_format: target, output_filename_base: base } = args;
  const { model, ...options } = args.render_options ?? {};
  const named = model === undefined ? {} : { model };
  const programs = await (typeof given === "string"
    ? programsOf(files, { file_path: given, ...named })
    : programsOfData(given, model));
  const rendered = renderPrograms(programs, target, optionsOf(options));
  const { title, extension } = RENDER_TARGETS[target];
  const uris = base === undefined ? [] : await writeAll(files, base + extension, rendered);
  return {
    success: true,
    message: [titlesOf(rendered, title), ...rendered.flatMap(({ notes }) => notes)].join(" "),
    ...(uris.length > 0 ? { artifact_uri: uris[0] } : {}),
    ...(uris.length > 1 ? { artifact_uris: uris } : {}),
    rendered_content_preview: rendered[0]!.text.split("\n").slice(0, PREVIEW_LINES).join("\n"),
  };
}

function titlesOf(rendered: readonly RenderedProgram[], target: string): string {
  const titles = rendered.map(({ program }) => program.title);
  return titles.length === 1
    ? `The model ${titles[0]} was rendered to ${target}.`
    : `The models ${titles.join(", ")} were rendered to ${target}, each to a separate program.`;
}

/** Writes each program into its own file, and returns the paths. */
async function writeAll(files: ModelFiles, path: string, rendered: readonly RenderedProgram[]): Promise<string[]> {
  const uris: string[] = [];
  for (const one of rendered) {
    const written = await files.write(pathOf(path, one, rendered.length), one.text);
    uris.push(pathToFileURL(written).href);
  }
  return uris;
}

async function programsOfData(data: object, model: string | number | undefined): Promise<readonly NamedProgram[]> {
  const { file } = importedOf(data);
  if (file.models.length > 0) return readPrograms(file, model);
  throw new ToolFailure("gnn_specification contains no model.", "invalid_params");
}

function importedOf(data: object): ImportedFile {
  try {
    return importGnn(JSON.stringify(data));
  } catch (error) {
    throw new ToolFailure(`gnn_specification is not a model: ${(error as Error).message}`, "invalid_params");
  }
}

function registerFileTool(hub: ModuleHub, files: ModelFiles, name: RenderTargetName): void {
  const { title } = RENDER_TARGETS[name];
  hub.registerTool<RenderFileArguments>({
    name: `render.render_gnn_to_${name}_mcp`,
    description: `Renders a GNN model specified by a file path to a program for ${title}.`,
    schema: schemas.input(
      {
        gnn_file_path: { type: "string", description: "Path to the input GNN file." },
        output_file_path: { type: "string", description: "Path of the output file; an existing file is replaced." },
      },
      ["gnn_file_path", "output_file_path"],
    ),
    aliases: [`render_gnn_to_${name}`],
    annotations: schemas.WRITES_FILES,
    handler: ({ gnn_file_path: from, output_file_path: to }) =>
      refusing(async () => {
        const rendered = renderPrograms(await programsOf(files, { file_path: from }), name, {});
        const uris = await writeAll(files, to, rendered);
        const notes = rendered.flatMap((one) => one.notes);
        const several = uris.length > 1 ? [`It has ${uris.length} models, each in a separate file.`] : [];
        return {
          status: "success",
          message: [`GNN model from ${from} rendered to ${to} for ${title}.`, ...several, ...notes].join(" "),
          output_uri: uris[0],
          ...(uris.length > 1 ? { output_uris: uris } : {}),
        };
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
