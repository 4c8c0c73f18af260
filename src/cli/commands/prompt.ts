import { isJsonObject, type JsonObject, listMember } from "../../core/json.ts";
import { readArguments } from "../arguments.ts";
import { blockText } from "../content.ts";
import { oneCall, reportOutcome, type OneCallOptions } from "../one-call.ts";
import type { Run } from "../command-row.ts";

export const run: Run<OneCallOptions> = async ([name = "", ...words], options, io) => {
  const args = await readArguments(words, io);
  const outcome = await oneCall({ ...options, shown: name }, io, (hub, call) => hub.prompt(name, args, call));
  return reportOutcome(outcome, { json: options.json === true, io }, messagesText);
};

function messagesText(result: JsonObject): string {
  const messages = listMember(result, "messages");
  return messages
    .filter(isJsonObject)
    .map(
      (message) =>
        `${String(message["role"])}: ${isJsonObject(message["content"]) ? blockText(message["content"]) : ""}`,
    )
    .join("\n");
}
