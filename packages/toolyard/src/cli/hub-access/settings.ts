import { locateConfig } from "../../config/locate.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { FileDraft } from "../../core/ports/hub-control.ts";
import { loadHubConfig } from "../../hub/open-hub.ts";
import type { LoadedHubConfig } from "../../hub/schema.ts";
import { assertAccepted } from "../input/consent.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";

/**
 * Loads the configuration of a command: the named file, the file that is found automatically, or none. Asks the user
 * first if another user may have written the file. Rejects with a `UsageError` if it is refused, or if no user can be
 * asked.
 */
export async function loadSettings(options: SharedOptions, io: Io, flags: JsonObject = {}): Promise<LoadedHubConfig> {
  await assertAccepted(options, io);
  return readSettings(options, io, flags);
}

/** Loads the configuration for commands that only show it and start nothing. */
export function readSettings(options: SharedOptions, io: Io, flags: JsonObject = {}): Promise<LoadedHubConfig> {
  return readDraft(options, io, { flags });
}

/** Loads the configuration as it would be with the changed text of a file. */
export function readDraft(
  options: SharedOptions,
  io: Io,
  { flags, draft }: { readonly flags: JsonObject; readonly draft?: FileDraft },
): Promise<LoadedHubConfig> {
  const files = locateConfig(options.config ?? [], io.env, io.cwd);
  return loadHubConfig({ files, variables: io.env, flags: withVerbosity(flags, options), ...(draft && { draft }) });
}

export function withVerbosity(flags: JsonObject, options: SharedOptions): JsonObject {
  return options.verbose ? { ...flags, logging: { level: "debug" } } : flags;
}
