import { KINDS, type FailKind } from "./kinds.ts";
import type { JsonObject } from "../json/json.ts";

/** The result of a call. An expected failure is a value; a fault in the hub's own code is a throw. */
export type Outcome<Result extends JsonObject = JsonObject> = Ok<Result> | Fail;

export interface Ok<Result extends JsonObject = JsonObject> {
  readonly ok: true;
  /**
   * The result of the call's method in its wire shape, with unknown members: `{content, structuredContent?, _meta?}`
   * for tools, `{contents}` for resources, `{messages}` for prompts, `{completion}` for completion. A result with
   * `resultType: "input_required"` is returned only if the call has `relaysInput`.
   */
  readonly result: Result;
  /** Number of calls to the provider; 1 unless a retry happened. */
  readonly attempts?: number;
}

/** An error object as a JSON-RPC peer sent it. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface Fail {
  readonly ok: false;
  readonly kind: FailKind;
  /** For the caller: what happened, the value received, what to do next. No stack, path or secret. */
  readonly message: string;
  readonly retryable: boolean;
  /** With `limited`: milliseconds until a retry may succeed. */
  readonly retryAfterMs?: number;
  /** Data for programs: `candidates` and `near` names, `errors` of the schema, `timeoutMs`, `signIn`. */
  readonly details?: JsonObject;
  /**
   * The `isError` result that callers get: with `tool_error` the tool's own, passed on unchanged by the MCP endpoint.
   */
  readonly result?: JsonObject;
  /** The protocol error that an MCP upstream sent, passed on unchanged by the MCP endpoint. */
  readonly rpcError?: RpcErrorObject;
  /**
   * With `denied`: all scopes that an access token needs for this operation. Over HTTP the refusal is a 403 with a
   * challenge that names them (RFC 6750, `insufficient_scope`).
   */
  readonly requiredScopes?: readonly string[];
  /** Only for the log. */
  readonly cause?: unknown;
  readonly attempts?: number;
}

export interface FailExtras {
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly details?: JsonObject;
  readonly result?: JsonObject;
  readonly rpcError?: RpcErrorObject;
  readonly requiredScopes?: readonly string[];
  readonly cause?: unknown;
}

export function ok(result: JsonObject): Ok {
  return { ok: true, result };
}

/** Creates a failure. `retryable` is that of the code's row in `KINDS`, unless `extras` sets it. */
export function fail(kind: FailKind, message: string, extras: FailExtras = {}): Fail {
  return { ok: false, kind, message, retryable: KINDS[kind].retryable, ...extras };
}
