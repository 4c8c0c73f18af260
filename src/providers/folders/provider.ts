import type { Provider } from "../../core/provider.ts";
import type { Source } from "../../core/records.ts";
import { runExecute } from "../../runtimes/execute/run-execute.ts";
import { FolderProvider, type FolderServices } from "../tool-folders/provider.ts";
import { createExecuteReader, type ExecuteFolderTool } from "./execute-reader.ts";
import type { FoldersOptions } from "./options.ts";

/** Tool folders: a `.mcp.json` beside a script with `execute`. */
export function createFoldersProvider(
  source: Source,
  options: FoldersOptions,
  { logger, ...ports }: FolderServices,
): Provider {
  return new FolderProvider<ExecuteFolderTool>({
    source,
    logger,
    ports,
    roots: options.toolsPaths,
    reader: createExecuteReader(options),
    libraries: options.librariesPaths,
    maxOutputBytes: options.maxOutputBytes,
    timeoutMs: options.timeoutMs,
    run: async ({ execute }, call, host) => {
      if (execute.settings.run.mode === "spawn") return runExecute(execute, call, host);
      const { runWarm } = await import("../../runtimes/warm/run-warm.ts");
      return runWarm({ ...execute, function: "execute" }, call, host);
    },
  });
}
