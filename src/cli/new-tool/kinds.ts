import type { NewTool } from "./new-tool.ts";
import { nodeScript, pythonScript, shellScript, typescriptScript } from "./script-files.ts";
import { folderFiles, moduleFiles, serviceFiles } from "./other-files.ts";

export const TOOL_KINDS = ["python", "node", "ts", "sh", "module", "folder", "service"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** Makes the files of a tool of each kind; `name` is a word of letters, digits, `-` and `_`. */
export const NEW_TOOLS: Readonly<Record<ToolKind, (name: string) => NewTool>> = {
  python: pythonScript,
  node: nodeScript,
  ts: typescriptScript,
  sh: shellScript,
  module: moduleFiles,
  folder: folderFiles,
  service: serviceFiles,
};
