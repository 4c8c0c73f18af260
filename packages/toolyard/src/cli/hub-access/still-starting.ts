import { fail } from "../../core/calls/outcome.ts";
import type { Hub } from "../../hub/hub.ts";
import { localSourcesStarted, missingModules } from "../../hub/sources/local-sources.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import { EXIT, reportFail } from "../failure.ts";
import { print, type Io } from "../output/io.ts";

/** Prints the names of sources that an answer lacks because they are still starting. */
export async function tellStarting(toolyard: Toolyard, io: Io): Promise<void> {
  // A source with cached definitions is complete in the answer, even before it has started.
  const starting = toolyard
    .sources()
    .filter(({ status, tools, resources, prompts }) => status.state === "starting" && !(tools || resources || prompts))
    .map(({ source }) => source.id);
  if (starting.length > 0)
    await print(
      io.stderr,
      `Still starting, so what they offer is missing here: ${starting.join(", ")}. \`toolyard check\` waits for them.`,
    );
}

/** Waits until the modules have loaded. On a terminal, prints the names of those that are awaited. */
export function startedHere(hub: Hub, io: Io): Promise<void> {
  return localSourcesStarted(hub, { signal: io.interrupted, onWaiting: (names) => void tellWaiting(names, io) });
}

/** Prints the modules that the command waits for. Only on a terminal, because programs do not need it. */
export async function tellWaiting(modules: readonly string[], io: Io): Promise<void> {
  if (io.stderr.isTTY === true)
    await print(io.stderr, `Waiting for ${modules.join(", ")}; \`timeout\` of [modules] is the limit.`);
}

/** Reports the modules that an answer lacks because they failed to import. Returns the exit code of the command. */
export async function tellMissing(hub: Hub, json: boolean, io: Io): Promise<number> {
  const message = whatIsMissing(missingModules(hub));
  if (message === undefined) return EXIT.ok;
  return reportFail(fail("unavailable", message), json, io);
}

/** Returns a message about missing modules; `undefined` if there are none. */
export function whatIsMissing(modules: readonly string[]): string | undefined {
  if (modules.length === 0) return undefined;
  return (
    `Modules that could not be loaded, so what they register is missing: ${modules.join(", ")}. ` +
    "`toolyard check` says why."
  );
}
