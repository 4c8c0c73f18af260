import { createHash } from "node:crypto";
import { isJsonObject, stringMember } from "../../../core/json/json.ts";
import { visibleName } from "../../../core/names/names.ts";
import type { ToolRecord } from "../../../core/sources/records.ts";
import type { PreparedTool } from "../../source-part.ts";
import { firstChars } from "../../../core/text/truncate.ts";

const MAX_DESCRIPTION_CHARS = 1000;
const MAX_PARAMETERS = 30;

/** Text of a tool for an embedding model, and the digest that identifies the text. */
export interface ToolText {
  readonly text: string;
  readonly key: string;
}

const texts = new WeakMap<ToolRecord, ToolText>();

export function toolTextOf({ record, entry }: PreparedTool): ToolText {
  let known = texts.get(record);
  if (!known) {
    const schema = entry["inputSchema"];
    const properties =
      isJsonObject(schema) && isJsonObject(schema["properties"])
        ? Object.keys(schema["properties"]).slice(0, MAX_PARAMETERS)
        : [];
    const lines = [
      `${record.source.id}: ${visibleName(record).replaceAll(/[_.\-/]+|(?<=[a-z])(?=[A-Z])/g, " ")}`,
      firstChars(stringMember(entry, "description") ?? "", MAX_DESCRIPTION_CHARS),
      [...record.keywords, ...properties].join(", "),
    ];
    const text = lines.filter((line) => line !== "").join("\n");
    texts.set(record, (known = { text, key: createHash("sha256").update(text).digest("hex") }));
  }
  return known;
}
