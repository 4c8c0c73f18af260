import { isJsonObject, type JsonObject, listMember } from "../../core/json/json.ts";
import { readArguments } from "../input/arguments.ts";
import { blockText } from "../output/content.ts";
import { oneCall, reportOutcome, type OneCallOptions } from "../hub-access/one-call.ts";
import type { CommandAction } from "../rows/command-row.ts";

export const run: CommandAction<OneCallOptions> = async ([name = "", ...words], options, io) => {
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
