import { isJsonObject, objectMember, type JsonObject } from "../core/json/json.ts";
import type { CallMethod } from "../core/calls/call.ts";
import { withUiResource } from "../core/uris/ui-resource.ts";

/**
 * Replaces the source's own URIs in a result by those that callers see, so that a link leads back to the source that
 * returned it. Returns the same object if nothing changes. Does not change structured content and texts.
 */
export function withShownUris(method: CallMethod, result: JsonObject, shownUri: ShownUri): JsonObject {
  const shown = withUiResource(result, shownUri);
  const member = MEMBERS[method];
  if (member === undefined) return shown;
  const list = shown[member.key] as readonly JsonObject[] | undefined;
  // A result that requests input has none of these lists, so nothing changes.
  if (list === undefined) return shown;
  const changed = mapped(list, (item) => member.change(item, shownUri));
  return changed === list ? shown : { ...shown, [member.key]: changed };
}

/** Returns a source's own URI as callers see it. */
type ShownUri = (uri: string) => string;

interface ResultUriMember {
  readonly key: string;
  readonly change: (item: JsonObject, shownUri: ShownUri) => JsonObject;
}

/** Lists that contain URIs, by the method of the result. */
const MEMBERS: Readonly<Record<CallMethod, ResultUriMember | undefined>> = {
  "tools/call": { key: "content", change: withShownBlock },
  "resources/read": { key: "contents", change: withShownUri },
  "prompts/get": { key: "messages", change: withShownContent },
  "completion/complete": undefined,
  extension: undefined,
};

/** Changes a message with one block or a list of blocks. */
function withShownContent(message: JsonObject, shownUri: ShownUri): JsonObject {
  const { content } = message;
  const changed = Array.isArray(content)
    ? mapped(content, (block) => (isJsonObject(block) ? withShownBlock(block, shownUri) : block))
    : isJsonObject(content)
      ? withShownBlock(content, shownUri)
      : content;
  return changed === content ? message : { ...message, content: changed };
}

function withShownBlock(block: JsonObject, shownUri: ShownUri): JsonObject {
  if (block["type"] === "resource_link") return withShownUri(block, shownUri);
  const resource = block["type"] === "resource" ? objectMember(block, "resource") : undefined;
  if (!resource) return block;
  const changed = withShownUri(resource, shownUri);
  return changed === resource ? block : { ...block, resource: changed };
}

function withShownUri(item: JsonObject, shownUri: ShownUri): JsonObject {
  const { uri } = item;
  if (typeof uri !== "string") return item;
  const shown = shownUri(uri);
  return shown === uri ? item : { ...item, uri: shown };
}

/** Changes the items of a list. Returns the list itself if no item changes. */
function mapped<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  let changed: T[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const item = list[at]!;
    const next = change(item);
    if (next !== item) (changed ??= [...list])[at] = next;
  }
  return changed ?? list;
}
