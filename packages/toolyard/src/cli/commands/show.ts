import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { EXIT, reportFail } from "../failure.ts";
import { printJson, printPainted } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { withHub } from "../hub-access/session.ts";
import { startedHere, whatIsMissing } from "../hub-access/still-starting.ts";
import { missingModules } from "../../hub/sources/local-sources.ts";
import { toolText } from "../output/tool-text.ts";

/** Prints one tool: its description, its parameters as a table, and a command that calls it. */
export const run: CommandAction<SharedOptions> = ([name = ""], options, io) =>
  withHub({ ...options, lazy: true }, io, async (_hub, inner) => {
    await startedHere(inner, io);
    const lookup = await inner.tools.describeTool(name, { mode: "all", principal: LOCAL_PRINCIPAL });
    if (!lookup.found) {
      const missing = whatIsMissing(missingModules(inner));
      const message = [lookup.failure.message, ...(missing === undefined ? [] : [missing])].join(" ");
      return reportFail({ ...lookup.failure, message }, options.json === true, io);
    }
    const entry: JsonObject = lookup.entry;
    if (options.json) await printJson(io.stdout, entry);
    else await printPainted(io.stdout, toolText(entry, { io, flags: remoteFlags(options) }));
    return EXIT.ok;
  });

/** Returns the flags that the example command needs to reach the same hub. */
function remoteFlags({ url, tokenEnv, config = [] }: SharedOptions): readonly string[] {
  return [
    ...config.flatMap((file) => ["--config", file]),
    ...(url === undefined ? [] : ["--url", url]),
    ...(tokenEnv === undefined ? [] : ["--token-env", tokenEnv]),
  ];
}
