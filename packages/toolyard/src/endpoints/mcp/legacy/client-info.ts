import type { Client } from "../../../core/calls/call.ts";
import { copyOf, isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";

export type RevisionChoice =
  | { readonly date: string; readonly problem?: never }
  | { readonly date?: never; readonly problem: string };

/** Checks the parameters of `initialize`. Members may be absent or `null`; another type is refused. */
export function readHandshake(params: JsonObject): RevisionChoice {
  const date = params["protocolVersion"];
  if (typeof date !== "string") return { problem: "Invalid params: `protocolVersion` must be a string." };
  const wrong = ["capabilities", "clientInfo"].find((member) => !isJsonObject(params[member] ?? {}));
  return wrong === undefined ? { date } : { problem: `Invalid params: \`${wrong}\` must be an object.` };
}

/** Who calls, as `initialize` says. */
export function describeClient(connection: string | undefined, params: JsonObject): Client {
  const info = objectMember(params, "clientInfo") ?? {};
  const name = stringMember(info, "name");
  const version = stringMember(info, "version");
  return {
    ...(connection === undefined ? {} : { connection }),
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    era: "legacy",
    capabilities: objectMember(params, "capabilities") ?? {},
  };
}

/**
 * Whether it is the minimal client that a much copied text prints: it writes a request and takes the next line for the
 * answer, so whatever nobody asked for would be read as one. It is known by what it declares, `{tools: {}}` and nothing
 * else, which is no client's capability.
 */
export function takesAnyLineAsAnswer({ capabilities }: Client, { date }: { readonly date: string }): boolean {
  return (
    date === "2024-11-05" && Object.keys(capabilities).length === 1 && objectMember(capabilities, "tools") !== undefined
  );
}

/** The caller's `_meta` as it is passed on: the token of its progress is ours to map. */
export function metaWithoutToken(params: JsonObject): JsonObject {
  const given = objectMember(params, "_meta");
  // Tools in modules get this very object.
  if (!given) return {};
  if (!("progressToken" in given)) return copyOf(given);
  const { progressToken: _, ...meta } = given;
  return meta;
}
