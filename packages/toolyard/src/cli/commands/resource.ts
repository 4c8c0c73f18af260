import { isJsonObject, type JsonObject, listMember } from "../../core/json/json.ts";
import { resourceText } from "../output/content.ts";
import { oneCall, reportOutcome, type OneCallOptions } from "../hub-access/one-call.ts";
import type { CommandAction } from "../rows/command-row.ts";

export const run: CommandAction<OneCallOptions> = async ([uri = ""], options, io) => {
  const outcome = await oneCall({ ...options, shown: uri }, io, (hub, call) => hub.read(uri, call));
  return reportOutcome(outcome, { json: options.json === true, io }, contentsText);
};

function contentsText(result: JsonObject): string {
  const contents = listMember(result, "contents");
  return contents.filter(isJsonObject).map(resourceText).join("\n");
}
