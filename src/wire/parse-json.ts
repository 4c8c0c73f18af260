import { isDeeperThan } from "../core/json-depth.ts";
import { RPC } from "./messages.ts";

export type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string };

/** Parses what a peer sent, or says with which JSON-RPC error it is to be refused. */
export function parseJson(text: string, maxDepth: number): ParsedJson {
  if (isDeeperThan(text, maxDepth)) {
    return {
      ok: false,
      code: RPC.invalidRequest,
      message: `Invalid Request: the message nests deeper than ${maxDepth} levels`,
    };
  }
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, code: RPC.parse, message: "Parse error" };
  }
}
