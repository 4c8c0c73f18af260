import { isUtf8 } from "node:buffer";
import { readJson, type JsonLimits, type ReadJson } from "../../wire/parse-json.ts";

/** Parsed JSON body, or the problem with it. `words` can follow "the request body" in a message. */
export type JsonBody = ReadJson | { readonly ok: false; readonly fault: "encoding"; readonly words: string };

export function parseJsonBody(body: Buffer, limits: JsonLimits): JsonBody {
  return isUtf8(body)
    ? readJson(body.toString("utf8"), limits)
    : { ok: false, fault: "encoding", words: "is not UTF-8" };
}
