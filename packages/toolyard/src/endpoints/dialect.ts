import type { View } from "../core/ports/hub-port.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import type { RpcErrorObject } from "../core/calls/outcome.ts";
import type { CallerLink } from "../core/calls/caller-link.ts";

/**
 * A further protocol on a JSON-RPC connection. Each connection has an ordered list of dialects after MCP: a method that
 * MCP does not define goes to the first dialect that knows it (C1).
 */
export interface Dialect {
  /**
   * Answers a request. Returns `undefined` immediately if this dialect does not know the method. The promise never
   * rejects.
   */
  answer(request: DialectRequest, context: DialectContext): Promise<DialectAnswer> | undefined;
  /** Returns the error message for a message that is not a JSON-RPC request. */
  describeInvalid(message: unknown): string;
}

export interface DialectRequest {
  readonly method: string;
  /** Parameters exactly as received. `{}` if there were none. */
  readonly params: JsonObject;
}

export interface DialectContext {
  readonly view: View;
  readonly link: CallerLink;
}

export type DialectAnswer =
  /** Result: any JSON value. */
  | { readonly type: "value"; readonly value: unknown }
  /** Error. `kind` is the outcome code, for transports that can report more than a JSON-RPC code. */
  | {
      readonly type: "error";
      readonly error: RpcErrorObject;
      readonly kind?: FailKind;
      /** Scopes that the caller's access token lacks. Over HTTP, the response is a 403 that names them. */
      readonly requiredScopes?: readonly string[];
    }
  /** No response, because the caller has cancelled. */
  | { readonly type: "silence" };

/** Passes the request to the first dialect that knows the method. Returns `undefined` if none does. */
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
