import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { Provider } from "../core/sources/provider.ts";
import type { SourceUris } from "../core/uris/source-uris.ts";
import { withShownUris } from "./result-uris.ts";
import type { CallState } from "./state.ts";

/** Maximum number of URIs per source that are remembered because callers have seen them with the source's prefix. */
const MAX_HANDED_OUT = 1000;
/** Maximum length of a remembered URI. It is needed because a server chooses the length and the URIs stay in memory. */
const MAX_REMEMBERED_CHARS = 2048;
/**
 * Number of characters of one result's URIs that are compared with the URIs of other sources. The comparison matches
 * templates, so one large result could otherwise block the hub. URIs beyond the limit always get the prefix.
 */
const MAX_COMPARED_CHARS = 256 * 1024;

/**
 * Translates the URIs of a source if another source has the same ones. Callers see these URIs with the source's prefix.
 * If a caller uses such a URI as an argument of a tool of the same source, the prefix is removed. An argument is
 * translated only if its whole text is a URI that the hub has shown with this prefix, because a text such as
 * `git+https://…` may start with the same characters and have another meaning.
 */
export class UriTranslation {
  readonly #handedOut = new WeakMap<Provider, Map<string, string>>();

  /** Returns a result with the URIs that callers see. Returns the same object if nothing changes. */
  toCaller({ call, found: { uris, provider } }: CallState, result: JsonObject): JsonObject {
    return uris ? withShownUris(call.method, result, this.#shownUri(uris, provider)) : result;
  }

  /** Returns arguments with the source's own URIs. Returns the same object if nothing changes. */
  toSource({ found: { uris, provider } }: CallState, args: JsonObject): JsonObject {
    const handedOut = this.#handedOut.get(provider);
    if (!uris || (!handedOut && !uris.isListedWithPrefix)) return args;
    const own = (text: string): string => handedOut?.get(text) ?? uris.own(text);
    return mappedTexts(args, own) as JsonObject;
  }

  #shownUri(uris: SourceUris, provider: Provider): (uri: string) => string {
    let room = MAX_COMPARED_CHARS;
    return (uri) => {
      room -= uri.length;
      const text = room >= 0 ? uris.shown(uri) : uris.prefixed(uri);
      if (text !== uri) this.#remember(provider, text, uri);
      return text;
    };
  }

  #remember(provider: Provider, shown: string, own: string): void {
    if (shown.length > MAX_REMEMBERED_CHARS) return;
    let handedOut = this.#handedOut.get(provider);
    if (!handedOut) this.#handedOut.set(provider, (handedOut = new Map()));
    handedOut.delete(shown);
    handedOut.set(shown, own);
    if (handedOut.size > MAX_HANDED_OUT) handedOut.delete(handedOut.keys().next().value!);
  }
}

/** Changes all texts in a value. Returns the value itself if no text changes. */
function mappedTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const changed = entries.map(([key, member]) => [key, mappedTexts(member, change)] as const);
  if (changed.every(([, member], at) => member === entries[at]![1])) return value;
  if (Array.isArray(value)) return changed.map(([, member]) => member);
  return isJsonObject(value) ? Object.fromEntries(changed) : value;
}
