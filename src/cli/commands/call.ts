import type { JsonObject } from "../../core/json.ts";
import { LOCAL_PRINCIPAL } from "../../core/call.ts";
import type { Hub } from "../../hub/open-hub.ts";
import type { Toolyard } from "../../hub/toolyard.ts";
import { fitToSchema, readArguments } from "../arguments.ts";
import { contentText } from "../content.ts";
import { oneCall, reportOutcome, type OneCallOptions } from "../one-call.ts";
import type { Run } from "../program.ts";

export const run: Run<OneCallOptions> = async ([tool = "", ...words], options, io) => {
  const given = await readArguments(words, io);
  const isJson = words.length === 0 || words[0] === "-" || words[0]!.trimStart().startsWith("{");
  const outcome = await oneCall(options, io, async (toolyard, call, hub) => toolyard.call(tool, isJson ? given : await fitted(toolyard, hub, tool, given), call));
  return reportOutcome(outcome, options.json === true, io, contentText);
};

/** `a=2` means the number where the tool's schema wants one. */
async function fitted(toolyard: Toolyard, hub: Hub, tool: string, given: JsonObject): Promise<JsonObject> {
  const tools = await toolyard.list({ mode: "all" });
  const name = hub.nameOf(tool, LOCAL_PRINCIPAL);
  const definition = tools.find((entry) => entry["name"] === name);
  return definition ? fitToSchema(given, definition["inputSchema"]) : given;
}
