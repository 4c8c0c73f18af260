import type { Provider } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import { runExecute } from "../../runtimes/execute/run-execute.ts";
import { FolderProvider, type FolderServices } from "../tool-folders/provider.ts";
import { createExecuteReader, type ExecuteFolderTool } from "./execute-reader.ts";
import type { FoldersOptions } from "./options.ts";

/** Returns a function that checks each version of a script once. */
function checkedOnce(): (tools: readonly ExecuteFolderTool[]) => Promise<ReadonlyMap<string, string>> {
  let known: ReadonlyMap<string, string | undefined> = new Map();
  const keyOf = ({ execute, version }: ExecuteFolderTool): string => `${execute.file}\0${version}`;
  return async (tools) => {
    const fresh = tools.filter((tool) => !known.has(keyOf(tool)));
    if (fresh.length > 0) {
      const { findFaults } = await import("../../runtimes/execute/find-faults.ts");
      const faults = await findFaults(fresh.map(({ execute }) => execute.file));
      const found = new Map(fresh.map((tool) => [keyOf(tool), faults.get(tool.execute.file)]));
      known = new Map(
        tools.map((tool) => [keyOf(tool), found.has(keyOf(tool)) ? found.get(keyOf(tool)) : known.get(keyOf(tool))]),
      );
    }
    return new Map(
      tools.flatMap((tool) => {
        const fault = known.get(keyOf(tool));
        return fault === undefined ? [] : [[tool.place, fault] as const];
      }),
    );
  };
}

/** Creates the source of tool folders: a `.mcp.json` next to a script with `execute`. */
export function createFoldersProvider(
  source: Source,
  options: FoldersOptions,
  { logger, innerHub, models, ...services }: FolderServices,
): Provider {
  return new FolderProvider<ExecuteFolderTool>({
    source,
    logger,
    ports: { innerHub, models },
    services,
    dependencies: options.dependencies,
    codeOf: ({ execute }) => execute,
    roots: options.toolsPaths,
    reader: createExecuteReader(options),
    libraries: options.librariesPaths,
    maxOutputBytes: options.maxOutputBytes,
    timeoutMs: options.timeoutMs,
    findFaults: checkedOnce(),
    run: async ({ execute }, call, host) => {
      if (execute.settings.run.mode === "spawn") return runExecute(execute, call, host);
      const { runWarm } = await import("../../runtimes/warm/run-warm.ts");
      return runWarm({ ...execute, function: "execute" }, call, host);
    },
  });
}
