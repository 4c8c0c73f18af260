import { stringifyExact } from "../../../core/json/exact-json.ts";
import type { ListKind, RenderedList, ServerFacts } from "../../../core/ports/hub-port.ts";
import { copyOf, objectMember, type JsonObject } from "../../../core/json/json.ts";
import type { RpcErrorObject } from "../../../core/calls/outcome.ts";
import { RPC } from "../../../wire/messages.ts";
import { META } from "../../../wire/modern/envelope.ts";
import { briefServerInfo } from "../capabilities.ts";
import type { MethodCodec } from "../methods.ts";

/** Caches that may store an answer between the hub and the caller. */
export type CacheScope = "public" | "private";

/** Adds the members of 2026-07-28 to answers: server identity, completeness of the answer, cache lifetime. */
export class ModernCodec implements MethodCodec {
  readonly invalidArguments = "isError";
  readonly resourceNotFoundCode = RPC.invalidParams;
  readonly #scope: CacheScope;
  readonly #identity: JsonObject;

  constructor(facts: ServerFacts, scope: CacheScope) {
    this.#scope = scope;
    this.#identity = Object.freeze({ [META.serverInfo]: briefServerInfo(facts) });
  }

  /** `_meta` that identifies the server. */
  get identity(): JsonObject {
    return this.#identity;
  }

  /**
   * Returns the members of every list and of `server/discover`. A list may change with each request, so none may be
   * cached.
   */
  cacheable({ isPrivate = false }: { readonly isPrivate?: boolean | undefined }): JsonObject {
    return { resultType: "complete", ttlMs: 0, cacheScope: isPrivate ? "private" : this.#scope, _meta: this.#identity };
  }

  list(kind: ListKind, list: RenderedList): RenderedList {
    return kind === "tools" ? withoutExecution(list) : list;
  }

  /** Returns the result of a call, possibly a failed one, with the members that this era requires. */
  stamp(method: string, result: JsonObject): JsonObject {
    const stamped = copyOf(result);
    const meta = objectMember(result, "_meta");
    stamped["resultType"] ??= "complete";
    stamped["_meta"] = meta ? { ...meta, ...this.#identity } : this.#identity;
    return method === "resources/read" && stamped["resultType"] === "complete" ? this.#withCaching(stamped) : stamped;
  }

  upstreamError(error: RpcErrorObject): RpcErrorObject {
    if (error.code === RPC.resourceNotFound) return { ...error, code: RPC.invalidParams };
    return HOP_CODES.has(error.code) ? { ...error, code: RPC.internal } : error;
  }

  // Applies the cache rules of the source. Answers that depend on a principal's rights stay private.
  #withCaching(result: JsonObject): JsonObject {
    const { ttlMs, cacheScope } = result;
    const isTtl = typeof ttlMs === "number" && Number.isSafeInteger(ttlMs) && ttlMs >= 0;
    const isPublic = this.#scope === "public" && cacheScope !== "private";
    return { ...result, ttlMs: isTtl ? ttlMs : 0, cacheScope: isPublic ? "public" : "private" };
  }
}

/**
 * Error codes about the headers, revision or handshake of one connection. They are not passed on, because the caller
 * would think that its own connection is meant.
 */
const HOP_CODES: ReadonlySet<number> = new Set([
  RPC.headerMismatch,
  RPC.unsupportedProtocolVersion,
  RPC.urlElicitationRequired,
]);

const projected = new WeakMap<RenderedList, RenderedList>();

/** Removes `execution`. This era does not have it: its tasks are an extension with other members. */
function withoutExecution(list: RenderedList): RenderedList {
  const held = projected.get(list);
  if (held) return held;
  const hasAny = list.entries.some((entry) => "execution" in entry);
  const entries = hasAny ? list.entries.map(withoutExecutionMember) : list.entries;
  const result = hasAny
    ? { entries, json: stringifyExact(entries), version: list.version, ...(list.isPrivate && { isPrivate: true }) }
    : list;
  projected.set(list, result);
  return result;
}

function withoutExecutionMember(entry: JsonObject): JsonObject {
  const { execution: _, ...rest } = entry;
  return rest;
}
