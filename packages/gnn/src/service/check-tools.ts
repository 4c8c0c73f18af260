import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { ModuleHub, ToolContext } from "toolyard";
import { ToolFailure } from "./failure.ts";
import { ontologyReport } from "../checks/ontology.ts";
import { typeCheckDirectory, writeReports, type DirectoryCheck, type WrittenReports } from "../directory-check.ts";
import { toJsonData } from "../exports/json.ts";
import type { ProfileName } from "../language/profiles.ts";
import { printGnn } from "../language/print.ts";
import { viewOf } from "../language/view.ts";
import { typeCheck } from "../type-check.ts";
import type { ModelFiles } from "./model-files.ts";
import { boundedData } from "./bounded-data.ts";
import { checkSource, codeOf, readSource, sourceText, type ModelSource } from "./read-model.ts";
import * as schemas from "./schemas.ts";

interface CheckDirectoryArguments {
  readonly dir_path: string;
  readonly recursive?: boolean;
  readonly output_dir_base?: string;
  readonly report_md_filename?: string;
  readonly profile?: ProfileName;
}

/** Registers the tools that parse, check and format models. */
export function registerCheckTools(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<ModelSource>({
    name: "gnn.check",
    description:
      "Checks a model in Generalized Notation Notation (GNN), the Markdown format for Active Inference models. " +
      "Returns every problem with code, line, column and correction.",
    schema: schemas.input({ ...schemas.SOURCE_PROPERTIES, profile: schemas.PROFILE }),
    outputSchema: {
      type: "object",
      $defs: { position: schemas.POSITION },
      properties: {
        is_valid: { type: "boolean" },
        diagnostics: schemas.DIAGNOSTICS,
        ontology: {
          type: "array",
          items: { type: "object" },
          description: "For each model: valid mappings, invalid terms and unmapped variables.",
        },
      },
      required: ["is_valid", "diagnostics", "ontology"],
    },
    keywords: ["validate", "lint", "active inference", "POMDP"],
    annotations: schemas.READS_FILES,
    handler: async (source) => {
      const { file, diagnostics, isValid } = await checkSource(files, source);
      const ontology = file.models.map((model) => ontologyReport(viewOf(model)));
      return { is_valid: isValid, diagnostics, ontology };
    },
  });
  hub.registerTool<ModelSource>({
    name: "gnn.format",
    description:
      "Formats a GNN model in the canonical layout. The content and the positions of comments do not change.",
    schema: schemas.input(schemas.SOURCE_PROPERTIES),
    outputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    annotations: schemas.READS_FILES,
    handler: async (source) => ({ text: printGnn((await readSource(files, source)).file) }),
  });
  hub.registerTool<ModelSource>({
    name: "gnn.parse_gnn_file",
    description:
      "Reads a GNN text or file into data: variables, edges, values, equations, time, ontology and parameters. " +
      "For a large file, parts are omitted and named in `omitted`; the export to JSON is complete.",
    schema: schemas.input(schemas.SOURCE_PROPERTIES),
    aliases: ["parse_gnn_file", "visualization.parse_gnn_file"],
    annotations: schemas.READS_FILES,
    handler: async (source) => {
      const { name, text } = await sourceText(files, source);
      const { file } = await readSource(files, { text });
      const { data, omitted } = boundedData(toJsonData(file));
      return { success: true, parsed_data: data, file_path: name, ...(omitted.length > 0 ? { omitted } : {}) };
    },
  });
}

/** Registers type checks of files and folders. */
export function registerTypeChecks(hub: ModuleHub, files: ModelFiles): void {
  hub.registerTool<ModelSource>({
    name: "gnn_type_checker.type_check_gnn_file",
    description: "Type-checks one GNN text or file and estimates the memory and the inference cost of its models.",
    schema: schemas.input({ ...schemas.SOURCE_PROPERTIES, profile: schemas.PROFILE }),
    outputSchema: schemas.TYPE_CHECK,
    aliases: ["type_check_gnn_file"],
    annotations: schemas.READS_FILES,
    handler: async (source) => {
      const { name, text } = await sourceText(files, source);
      return typeCheck(name, text, source.profile === undefined ? {} : { profile: source.profile });
    },
  });
  hub.registerTool<CheckDirectoryArguments>({
    name: "gnn_type_checker.type_check_gnn_directory",
    description:
      "Type-checks every GNN file of a folder, and writes a report (Markdown and JSON) if `output_dir_base` is given.",
    schema: schemas.input(
      {
        dir_path: { type: "string", description: "Path of the folder." },
        recursive: { type: "boolean", default: false, description: "Includes subfolders." },
        output_dir_base: { type: "string", description: "Folder for the report. Omitted: no report is written." },
        report_md_filename: {
          type: "string",
          default: "type_check_report.md",
          description: "File name of the Markdown report. The JSON report is written next to it.",
        },
        profile: schemas.PROFILE,
      },
      ["dir_path"],
    ),
    aliases: ["type_check_gnn_directory"],
    annotations: schemas.WRITES_FILES,
    handler: (args, context) => checkDirectory(files, args, context),
  });
}

async function checkDirectory(files: ModelFiles, args: CheckDirectoryArguments, context: ToolContext): Promise<object> {
  const { dir_path: path, recursive = false, profile = "default", output_dir_base: base } = args;
  const report = base === undefined ? undefined : await reportPath(files, base, args.report_md_filename);
  const real = await existingFolder(files, path);
  const check = await typeCheckDirectory(real, {
    recursive,
    profile,
    signal: context.signal,
    onFile: (done, total) => context.progress(done, total),
  }).catch((error: unknown) => {
    if (codeOf(error) === "ENOTDIR") throw new ToolFailure(`${path} is not a folder.`, "invalid_params");
    throw error;
  });
  const shown = withGivenPaths(check, real, path);
  return report === undefined ? shown : { ...shown, reports: urisOf(await writeReports(shown, report)) };
}

async function existingFolder(files: ModelFiles, path: string): Promise<string> {
  try {
    return await files.existing(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw new ToolFailure(`Directory not found: ${path}`, "invalid_params");
    throw error;
  }
}

async function reportPath(files: ModelFiles, base: string, name = "type_check_report.md"): Promise<string> {
  if (name === "" || name.startsWith(".") || /[/\\]/.test(name))
    throw new ToolFailure(
      `report_md_filename must be a file name, such as type_check_report.md, got ${JSON.stringify(name)}.`,
      "invalid_params",
    );
  return files.writable(`${base}/${name}`);
}

/** Replaces real paths by paths as the caller named them, because the targets of symbolic links are not revealed. */
function withGivenPaths(check: DirectoryCheck, real: string, given: string): DirectoryCheck {
  const shown = (path: string): string => `${given.replace(/(?<!\/)\/+$/, "")}/${relative(real, path)}`;
  return {
    ...check,
    directory_path: given,
    results_detail: check.results_detail.map((one) => ({ ...one, file_path: shown(one.file_path) })),
    skipped: check.skipped.map((one) => ({ ...one, file_path: shown(one.file_path) })),
  };
}

function urisOf({ markdown, json }: WrittenReports): readonly string[] {
  return [markdown, json].map((path) => pathToFileURL(path).href);
}
