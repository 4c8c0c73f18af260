import type { Client } from "../../../core/calls/call.ts";
import { copyOf, isJsonObject, objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";

export type RevisionChoice =
  | { readonly date: string; readonly problem?: never }
  | { readonly date?: never; readonly problem: string };

/**
 * Checks the parameters of `initialize` and returns the revision. Members may be absent or `null`; values of any other
 * type are refused.
 */
export function readHandshake(params: JsonObject): RevisionChoice {
  const date = params["protocolVersion"];
  if (typeof date !== "string") return { problem: "Invalid params: `protocolVersion` must be a string." };
  const wrong = ["capabilities", "clientInfo"].find((member) => !isJsonObject(params[member] ?? {}));
  return wrong === undefined ? { date } : { problem: `Invalid params: \`${wrong}\` must be an object.` };
}

/** Returns the client that the parameters of `initialize` describe. */
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
 * Returns true for the minimal client of a widely copied example. After a request it reads the next line as the answer,
 * even if the line is a notification. It is recognised by its capabilities, exactly `{tools: {}}`, because `tools` is
 * not a client capability.
 */
export function takesAnyLineAsAnswer({ capabilities }: Client, { date }: { readonly date: string }): boolean {
  return (
    date === "2024-11-05" && Object.keys(capabilities).length === 1 && objectMember(capabilities, "tools") !== undefined
  );
}

/** Returns the caller's `_meta` without the progress token, which the hub maps. */
export function metaWithoutToken(params: JsonObject): JsonObject {
  const given = objectMember(params, "_meta");
  // Each call gets a new object, because tools in modules receive it and may change it.
  if (!given) return {};
  if (!("progressToken" in given)) return copyOf(given);
  const { progressToken: _, ...meta } = given;
  return meta;
}
