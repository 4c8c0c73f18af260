import type { JsonObject } from "../../core/json/json.ts";
import type { Outcome } from "../../core/calls/outcome.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import { formatBytes } from "../../core/text/bytes.ts";
import type { FixedTool } from "../fixed-tools.ts";
import { FileRefusal } from "./confined-path.ts";
import type { ConfinedFiles } from "./confined-files.ts";
import { defaultToolRecord, failedResult, valueResult } from "./default-tool.ts";

const INPUT: JsonObject = {
  type: "object",
  properties: {
    file_path: {
      type: "string",
      description:
        "Path of the file, such as notes/today.md. A relative path starts in the folder for files; missing " +
        "folders are created.",
    },
    content: { type: "string", description: "The text." },
    mode: {
      type: "string",
      enum: ["overwrite", "append"],
      description: "`overwrite` replaces the file, `append` adds to its end.",
      default: "overwrite",
    },
  },
  required: ["file_path", "content"],
};

const OUTPUT: JsonObject = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["success", "error"] },
    message: { type: "string" },
    file_path: {
      type: "string",
      description: "Absolute path of the file; the requested path if it was not written.",
    },
  },
  required: ["status", "message", "file_path"],
};

/** Creates `file_writer(file_path, content, mode = "overwrite")`, which returns `{status, message, file_path}`. */
export function fileWriter(source: Source, files: ConfinedFiles): FixedTool {
  const record = defaultToolRecord(source, {
    name: "file_writer",
    title: "Write a file",
    description:
      "Writes text to a file, or appends text to it. Only the hub's folders for files " +
      "(`default_tools.file_roots`) can be written to; a relative path starts in the first of them.",
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    keywords: ["write", "save", "append", "file", "text"],
  });
  return { record, run: (call) => write(call, files) };
}

async function write({ arguments: args }: ResolvedCall, files: ConfinedFiles): Promise<Outcome> {
  // The type assertion is safe, because the arguments match the schema.
  const { file_path: path, content: text, mode } = args as { file_path: string; content: string; mode?: string };
  const content = Buffer.from(text, "utf8");
  try {
    const written = await (mode === "append" ? files.append(path, content) : files.overwrite(path, content));
    const message = `${mode === "append" ? "Appended" : "Wrote"} ${formatBytes(content.byteLength)} to ${path}.`;
    return valueResult({ status: "success", message, file_path: written });
  } catch (error) {
    if (!(error instanceof FileRefusal)) throw error;
    return failedResult(error.message, { status: "error", message: error.message, file_path: path }, error.kind);
  }
}
