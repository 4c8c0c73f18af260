import { KINDS, type FailKind } from "./kinds.ts";
import type { JsonObject } from "../json/json.ts";

/** Result of a call. An expected failure is a value. Only an error in the hub's own code is thrown. */
export type Outcome<Result extends JsonObject = JsonObject> = Ok<Result> | Fail;

export interface Ok<Result extends JsonObject = JsonObject> {
  readonly ok: true;
  /**
   * Result of the call's method in its MCP form, with unknown members: `{content, structuredContent?, _meta?}` for
   * tools, `{contents}` for resources, `{messages}` for prompts, `{completion}` for completion. A result with
   * `resultType: "input_required"` is returned only if the call has `relaysInput`.
   */
  readonly result: Result;
  /** Number of calls to the provider. 1 unless the call was retried. */
  readonly attempts?: number;
}

/** Error object that a JSON-RPC peer sent. */
export interface RpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface Fail {
  readonly ok: false;
  readonly kind: FailKind;
  /** Message for the caller: what happened, the value received, what to do next. Contains no stack, path or secret. */
  readonly message: string;
  readonly retryable: boolean;
  /** With `limited`: milliseconds until a retry may succeed. */
  readonly retryAfterMs?: number;
  /** Data for programs: names in `candidates` and `near`, validation `errors`, `timeoutMs`, `signIn`. */
  readonly details?: JsonObject;
  /**
   * Result with `isError` for the caller. With `tool_error` it is the tool's own result, which the MCP endpoint passes
   * on unchanged.
   */
  readonly result?: JsonObject;
  /** Protocol error of an MCP upstream, which the MCP endpoint passes on unchanged. */
  readonly rpcError?: RpcErrorObject;
  /**
   * With `denied`: all scopes that an access token needs for this operation. Over HTTP, the response is a 403 with a
   * challenge that names them (RFC 6750, `insufficient_scope`).
   */
  readonly requiredScopes?: readonly string[];
  /** Cause for the log; callers do not get it. */
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

/** Creates a failure. `retryable` comes from the code's row in `KINDS`, unless `extras` sets it. */
export function fail(kind: FailKind, message: string, extras: FailExtras = {}): Fail {
  return { ok: false, kind, message, retryable: KINDS[kind].retryable, ...extras };
}
