import type { JsonObject } from "../../core/json.ts";
import { LOCAL_PRINCIPAL } from "../../core/call.ts";
import type { Hub } from "../../hub/open-hub.ts";
import { fitToSchema, readArguments } from "../arguments.ts";
import { contentText } from "../content.ts";
import { oneCall, reportOutcome, type OneCallOptions } from "../one-call.ts";
import type { Run } from "../command-row.ts";

export const run: Run<OneCallOptions> = async ([tool = "", ...words], options, io) => {
  const given = await readArguments(words, io);
  const isJson = words.length === 0 || words[0] === "-" || words[0]!.trimStart().startsWith("{");
  const outcome = await oneCall(options, io, async (toolyard, call, hub) =>
    toolyard.call(tool, isJson ? given : await fitted(hub, tool, given), call),
  );
  return reportOutcome(outcome, { json: options.json === true, io }, contentText);
};

/** `a=2` means the number where the tool's schema wants one. */
async function fitted(hub: Hub, tool: string, given: JsonObject): Promise<JsonObject> {
  const lookup = await hub.describeTool(tool, { mode: "all", principal: LOCAL_PRINCIPAL });
  return lookup.found ? fitToSchema(given, lookup.entry["inputSchema"]) : given;
}
