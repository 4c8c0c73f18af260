import { isDeeperThan } from "../core/json-depth.ts";
import { hasMoreKeysThan, tooManyKeys } from "./json-keys.ts";
import { RPC } from "./messages.ts";

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string };

/** What JSON may be made of, so that no one who works on it takes long. */
export interface JsonLimits {
  /** Levels of nesting. */
  readonly maxJsonDepth: number;
  /** Keys of one object; all together may have `KEYS_IN_ALL` times as many. */
  readonly maxJsonKeys: number;
}

/** Parses what a peer sent, or says with which JSON-RPC error it is to be refused. */
export function parseJson(text: string, { maxJsonDepth, maxJsonKeys }: JsonLimits): ParsedJson {
  if (isDeeperThan(text, maxJsonDepth)) return outOfBounds(`nests deeper than ${maxJsonDepth} levels`);
  if (hasMoreKeysThan(text, maxJsonKeys)) return outOfBounds(tooManyKeys(maxJsonKeys));
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, code: RPC.parse, message: "Parse error" };
  }
}

function outOfBounds(words: string): ParsedJson {
  return { ok: false, code: RPC.invalidRequest, message: `Invalid Request: the message ${words}` };
}
