import type { ModuleHub, ToolContext } from "toolyard";
import { modelCosts } from "../estimates/model-costs.ts";
import { findGnnFiles, readGnnFile } from "../directory-check.ts";
import { hasSections } from "../language/fences.ts";
import { parseGnn } from "../language/parse.ts";
import { relative } from "node:path";
import { ToolFailure } from "./failure.ts";
import type { ModelFiles } from "./model-files.ts";
import { codeOf, expectModels, sourceText, type ModelSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";

interface EstimateDirectoryArguments {
  readonly dir_path: string;
  readonly recursive?: boolean;
}

/** Registers the tools that estimate the cost of models. */
export function registerEstimates(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<ModelSource>({
    name: "gnn_type_checker.estimate_resources_for_gnn_file",
    description:
      "Estimates the costs of the models in a GNN text or file: the memory and the inference cost with the formulas " +
      "of the 2025 GNN type checkers, and the bytes and operations of a program that runs the models.",
    schema: schemas.input(schemas.SOURCE_PROPERTIES),
    aliases: ["estimate_resources_for_gnn_file"],
    annotations: schemas.READS_FILES,
    handler: async (source) => {
      const { name, text } = await sourceText(files, source);
      return estimatesOf(name, text);
    },
  });
  hub.registerTool<EstimateDirectoryArguments>({
    name: "gnn_type_checker.estimate_resources_for_gnn_directory",
    description: "Estimates the costs of the models in every GNN file of a folder.",
    schema: schemas.input(
      {
        dir_path: { type: "string", description: "Path of the folder." },
        recursive: { type: "boolean", default: false, description: "Includes subfolders." },
      },
      ["dir_path"],
    ),
    aliases: ["estimate_resources_for_gnn_directory"],
    annotations: schemas.READS_FILES,
    handler: (args, context) => directoryEstimates(files, args, context),
  });
}

function estimatesOf(file_path: string, text: string): object {
  const parsed = parseGnn(text);
  expectModels(parsed);
  const models = modelCosts(parsed.file);
  const sum = (cost: (model: (typeof models)[number]) => number): number =>
    models.reduce((total, model) => total + cost(model), 0);
  return {
    success: true,
    file_path,
    estimates: {
      memory_estimate_kb: sum((model) => model.memory_estimate_kb),
      inference_estimate_units: sum((model) => model.inference_estimate_units),
      models,
    },
  };
}

async function directoryEstimates(
  files: ModelFiles,
  { dir_path: path, recursive = false }: EstimateDirectoryArguments,
  context: ToolContext,
): Promise<object> {
  const real = await files.existing(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") throw new ToolFailure(`Directory not found: ${path}`, "invalid_params");
    throw error;
  });
  const found = await findGnnFiles(real, { recursive }).catch((error: unknown) => {
    if (codeOf(error) === "ENOTDIR") throw new ToolFailure(`${path} is not a folder.`, "invalid_params");
    throw error;
  });
  const results: object[] = [];
  for (const [index, file] of found.entries()) {
    context.signal.throwIfAborted();
    const shown = `${path.replace(/(?<!\/)\/+$/, "")}/${relative(real, file)}`;
    results.push(
      await readGnnFile(file)
        .then((text) => (hasSections(text) ? estimatesOf(shown, text) : withoutModel(shown)))
        .catch((error: Error) => ({ success: false, file_path: shown, error: error.message })),
    );
    context.progress(index + 1, found.length);
  }
  return { success: true, directory_path: path, results };
}

/**
 * Returns the result for a file without a model. A document among models, such as a README.md, is not a model of size
 * 0.
 */
function withoutModel(file_path: string): object {
  return { success: false, file_path, error: "The file contains no GNN section." };
}
