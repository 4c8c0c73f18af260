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
  readonly text?: string;
  readonly gnn_file_path?: string;
  readonly output_file_path?: string;
}

/** Maximum size of an export in a result, in bytes. A larger export must be written to a file. */
const MAX_CONTENT_BYTES = 1024 * 1024;

const INPUT = schemas.input({
  gnn_file_path: { type: "string", description: "Path to the input GNN file. Give this or `text`." },
  text: { type: "string", description: "A model as GNN text. Give this or `gnn_file_path`." },
  output_file_path: {
    type: "string",
    description: "Path of the output file; an existing file is replaced. Omitted: the result contains the export.",
  },
});

const OUTPUT = {
  type: "object",
  properties: {
    status: { type: "string", const: "success" },
    message: { type: "string" },
    output_uri: { type: "string", format: "uri" },
    content: { type: "string", description: "Exported text, if no file is written." },
    content_base64: {
      type: "string",
      description: "Exported data in base64, if the format is binary and no file is written.",
    },
  },
  required: ["status", "message"],
};

/** Registers one tool for each format, and the tool that refuses pickles with the reason. */
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

async function exportFile(files: ModelFiles, format: ExportFormatName, args: ExportArguments): Promise<object> {
  const { text, gnn_file_path: from, output_file_path: to } = args;
  const { title } = EXPORT_FORMATS[format];
  if ((text === undefined) === (from === undefined))
    throw new ToolFailure("Give either `text` or `gnn_file_path`.", "invalid_params");
  const checked = checkGnn(text ?? (await readModelText(files, from!)));
  const name = from ?? "the text";
  try {
    expectModels(checked);
    if (checked.diagnostics.some(({ code }) => code === "E013"))
      throw new ToolFailure(`${name} contains no GNN section.`, "invalid_params");
    const content = exportGnn(checked.file, format);
    const target = to === undefined ? "" : ` to ${to}`;
    const message = `GNN data from ${name} exported${target} in ${title} format.${unreadNote(checked)}`;
    if (to === undefined) return { status: "success", message, ...contentOf(content) };
    return { status: "success", message, output_uri: pathToFileURL(await files.write(to, content)).href };
  } catch (error) {
    const kind = error instanceof ToolFailure ? error.kind : "tool_error";
    throw new ToolFailure(`Failed to export GNN to ${title}: ${(error as Error).message}`, kind);
  }
}

function contentOf(content: string | Uint8Array): object {
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_CONTENT_BYTES)
    throw new ToolFailure(
      `The export has ${bytes} bytes, but a result has at most ${MAX_CONTENT_BYTES}. Give output_file_path.`,
      "invalid_params",
    );
  return typeof content === "string" ? { content } : { content_base64: Buffer.from(content).toString("base64") };
}

/** Returns a note if the export contains less than the file. */
function unreadNote({ diagnostics }: CheckedFile): string {
  const lines = new Set(diagnostics.filter(({ code }) => UNREAD_CODES.has(code)).map(({ start }) => start.line));
  if (lines.size === 0) return "";
  return (
    ` Parts could not be read: see line${lines.size > 1 ? "s" : ""} ${[...lines].slice(0, 10).join(", ")} ` +
    "with gnn.check."
  );
}
