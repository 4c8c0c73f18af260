import { pathToFileURL } from "node:url";
import type { ModuleHub } from "toolyard";
import { ToolFailure } from "./failure.ts";
import { EXPORT_FORMATS, exportGnn, NO_PICKLE, type ExportFormatName } from "../exports/formats.ts";
import { checkGnn, type CheckedFile } from "../checks/check.ts";
import { UNREAD_CODES } from "../language/diagnostics.ts";
import type { ModelFiles } from "./model-files.ts";
import { expectModels, readModelText } from "./read-model.ts";
import * as schemas from "./schemas.ts";

interface ExportArguments {
  readonly gnn_file_path: string;
  readonly output_file_path: string;
}

const INPUT = schemas.input(
  {
    gnn_file_path: { type: "string", description: "Path to the input GNN file." },
    output_file_path: { type: "string", description: "Path of the file to write; one that is there is replaced." },
  },
  ["gnn_file_path", "output_file_path"],
);

const OUTPUT = {
  type: "object",
  properties: {
    status: { type: "string", const: "success" },
    message: { type: "string" },
    output_uri: { type: "string", format: "uri" },
  },
  required: ["status", "message", "output_uri"],
};

/** Registers one tool for each format, and the one that refuses pickles with the reason. */
export function registerExportTools(hub: ModuleHub, files: ModelFiles): void {
  for (const name of Object.keys(EXPORT_FORMATS) as ExportFormatName[]) {
    const { title } = EXPORT_FORMATS[name];
    hub.registerTool<ExportArguments>({
      name: `export.export_gnn_to_${name}_mcp`,
      description: `Exports a GNN model specified by a file path to a ${title} file.`,
      schema: INPUT,
      outputSchema: OUTPUT,
      aliases: [`export_gnn_to_${name}`],
      annotations: schemas.WRITES_FILES,
      handler: (args) => exportFile(files, name, args),
    });
  }
  hub.registerTool<ExportArguments>({
    name: "export.export_gnn_to_python_pickle_mcp",
    description: "Refused: a pickle runs code when it is loaded. Use the export to JSON or CBOR.",
    schema: INPUT,
    aliases: ["export_gnn_to_python_pickle"],
    visibility: "ondemand",
    annotations: schemas.READS_FILES,
    handler: () => Promise.reject(new ToolFailure(NO_PICKLE, "denied")),
  });
}

async function exportFile(files: ModelFiles, name: ExportFormatName, args: ExportArguments): Promise<object> {
  const { gnn_file_path: from, output_file_path: to } = args;
  const { title } = EXPORT_FORMATS[name];
  const checked = checkGnn(await readModelText(files, from));
  try {
    expectModels(checked);
    if (checked.diagnostics.some(({ code }) => code === "E013"))
      throw new ToolFailure(`${from} holds no section of GNN.`, "invalid_params");
    const path = await files.write(to, exportGnn(checked.file, name));
    const message = `GNN data from ${from} exported to ${to} in ${title} format.${unreadNote(checked)}`;
    return { status: "success", message, output_uri: pathToFileURL(path).href };
  } catch (error) {
    const kind = error instanceof ToolFailure ? error.kind : "tool_error";
    throw new ToolFailure(`Failed to export GNN to ${title}: ${(error as Error).message}`, kind);
  }
}

/** Returns a note if the export holds less than the file. */
function unreadNote({ diagnostics }: CheckedFile): string {
  const lines = new Set(diagnostics.filter(({ code }) => UNREAD_CODES.has(code)).map(({ start }) => start.line));
  if (lines.size === 0) return "";
  return (
    ` Not all of it could be read: see line${lines.size > 1 ? "s" : ""} ${[...lines].slice(0, 10).join(", ")} ` +
    "with gnn.check."
  );
}
