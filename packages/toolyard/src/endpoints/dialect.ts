import type { View } from "../core/ports/hub-port.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { RpcErrorObject } from "../core/calls/outcome.ts";
import type { CallerLink } from "../core/calls/caller-link.ts";

/**
 * One more way to speak on a connection whose messages are JSON-RPC. A connection has an ordered list of them behind
 * MCP: a method that MCP does not have goes to the first that knows it (C1).
 */
export interface Dialect {
  /** Answers a request; nothing at once when the method is not this dialect's either. The promise never rejects. */
  answer(request: DialectRequest, context: DialectContext): Promise<DialectAnswer> | undefined;
  /** What the sender of a message is told that is no JSON-RPC request. */
  describeInvalid(message: unknown): string;
}

export interface DialectRequest {
  readonly method: string;
  /** As they came; `{}` when there were none. */
  readonly params: JsonObject;
}

export interface DialectContext {
  readonly view: View;
  readonly link: CallerLink;
}

export type DialectAnswer =
  /** Any JSON value. */
  | { readonly type: "value"; readonly value: unknown }
  /** `kind` is why, for carriers that can say more than a code. */
  | { readonly type: "error"; readonly error: RpcErrorObject; readonly kind?: FailKind }
  /** The caller has cancelled: nothing is sent. */
  | { readonly type: "silence" };

/** Asks the first dialect that knows the method; nothing when none does. */
export function answerInDialects(
  dialects: readonly Dialect[],
  request: DialectRequest,
  context: DialectContext,
): Promise<DialectAnswer> | undefined {
  for (const dialect of dialects) {
    const answering = dialect.answer(request, context);
    if (answering) return answering;
  }
  return undefined;
}
