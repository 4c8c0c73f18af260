import type { ProviderKind } from "../../core/sources/provider-kinds.ts";
import type { NewTool } from "./new-tool.ts";
import { nodeScript, pythonScript, shellScript, typescriptScript } from "./script-files.ts";
import { folderFiles, moduleFiles, serviceFiles } from "./other-files.ts";

export const TOOL_KINDS = ["python", "node", "ts", "sh", "module", "folder", "service"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** Creates the files of a tool of each kind. `name` consists of letters, digits, `-` and `_`. */
export const NEW_TOOLS: Readonly<Record<ToolKind, (name: string) => NewTool>> = {
  python: pythonScript,
  node: nodeScript,
  ts: typescriptScript,
  sh: shellScript,
  module: moduleFiles,
  folder: folderFiles,
  service: serviceFiles,
};

const SCRIPT = { source: "scripts", folder: "tools" } as const;

/** Source kind of each tool kind, with the default folder if the configuration names none. */
export const NEW_PLACES = {
  python: SCRIPT,
  node: SCRIPT,
  ts: SCRIPT,
  sh: SCRIPT,
  module: { source: "modules", folder: "modules" },
  folder: { source: "folders", folder: "folders" },
  service: { source: "stdio", folder: "servers" },
} as const satisfies Readonly<Record<ToolKind, { readonly source: ProviderKind; readonly folder: string }>>;
