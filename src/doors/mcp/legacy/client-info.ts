import type { Client } from "../../../core/call.ts";
import { objectMember, stringMember, type JsonObject } from "../../../core/json.ts";

/** Who calls, as `initialize` says. */
export function describeClient(connection: string | undefined, params: JsonObject): Client {
  const info = objectMember(params, "clientInfo") ?? {};
  const name = stringMember(info, "name");
  const version = stringMember(info, "version");
  return {
    ...(connection === undefined ? {} : { connection }),
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    capabilities: objectMember(params, "capabilities") ?? {},
  };
}

/** The caller's `_meta` as it is passed on: the token of its progress is ours to map. */
export function metaWithoutToken(params: JsonObject): JsonObject {
  const { progressToken: _, ...meta } = objectMember(params, "_meta") ?? {};
  return meta;
}
