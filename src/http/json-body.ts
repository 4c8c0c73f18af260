import { isUtf8 } from "node:buffer";
import { isDeeperThan } from "../core/json-depth.ts";
import { hasMoreKeysThan, tooManyKeys } from "../wire/json-keys.ts";
import type { JsonLimits } from "../wire/parse-json.ts";

/** A body as JSON, or what is wrong with it: `words` follow "the request body". */
export type JsonBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly fault: "encoding" | "syntax" | "bounds"; readonly words: string };

export function parseJsonBody(body: Buffer, { maxJsonDepth, maxJsonKeys }: JsonLimits): JsonBody {
  if (!isUtf8(body)) return { ok: false, fault: "encoding", words: "is not UTF-8" };
  const text = body.toString("utf8");
  if (isDeeperThan(text, maxJsonDepth))
    return { ok: false, fault: "bounds", words: `nests deeper than ${maxJsonDepth} levels` };
  if (hasMoreKeysThan(text, maxJsonKeys)) return { ok: false, fault: "bounds", words: tooManyKeys(maxJsonKeys) };
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, fault: "syntax", words: "is not valid JSON" };
  }
}
