import type { Provider } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import { runScript } from "../../runtimes/scripts/run-script.ts";
import { FolderProvider, type FolderServices } from "../tool-folders/provider.ts";
import type { ScriptsOptions } from "./options.ts";
import { createScriptReader, type ScriptTool } from "./script-reader.ts";

/** Creates the source of script tools: folders with a `tool.toml`. */
export function createScriptsProvider(
  source: Source,
  options: ScriptsOptions,
  { logger, innerHub, models, ...services }: FolderServices,
): Provider {
  return new FolderProvider<ScriptTool>({
    source,
    logger,
    ports: { innerHub, models },
    services,
    dependencies: options.dependencies,
    codeOf: ({ name, script: { script: file, command, folder, root, settings } }) =>
      file === undefined || command ? undefined : { name, file, folder, root, settings },
    roots: options.toolsPaths,
    reader: createScriptReader(options),
    libraries: options.librariesPaths,
    maxOutputBytes: options.maxOutputBytes,
    timeoutMs: options.timeoutMs,
    run: async ({ script }, call, host) => {
      if (script.settings.run.mode === "spawn") return runScript(script, call, host);
      const { runWarm } = await import("../../runtimes/warm/run-warm.ts");
      return runWarm({ ...script, file: script.script!, function: "run" }, call, host);
    },
  });
}
