import { isUtf8 } from "node:buffer";
import { isDeeperThan } from "../core/json-depth.ts";
import { hasMoreKeysThan, KEYS_IN_ALL } from "../wire/json-keys.ts";

/** What a JSON body may be made of, so that no one who works on it takes long. */
export interface JsonLimits {
  /** Levels of nesting. */
  readonly maxJsonDepth: number;
  /** Keys of one object; all together may have `KEYS_IN_ALL` times as many. */
  readonly maxJsonKeys: number;
}

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

function tooManyKeys(maxKeys: number): string {
  const [one, all] = [maxKeys, maxKeys * KEYS_IN_ALL];
  return (
    `has an object of more than ${one} keys, or more than ${all} keys in all; ` +
    "send less at once, or raise `server.max_json_keys`"
  );
}
