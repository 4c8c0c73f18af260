import { KINDS, type FailKind } from "./kinds.ts";
import type { JsonObject } from "../json/json.ts";

/** What a call came to. An expected failure is a value; a fault in our own code is a throw. */
export type Outcome = Ok | Fail;

export interface Ok {
  readonly ok: true;
  /**
   * The result of the call's method in its wire shape, unknown members kept as they came: `{content,
   * structuredContent?, _meta?}` for tools, `{contents}` for resources, `{messages}` for prompts, `{completion}` for
   * completion. A result with `resultType: "input_required"` is handed over only when the call says that it
   * `relaysInput`.
   */
  readonly result: JsonObject;
  /** How often the provider was asked; 1 unless a retry happened. */
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
  /** For the caller: what happened, what was received, what to do next. No stack, path or secret. */
  readonly message: string;
  readonly retryable: boolean;
  /** With `limited`: when trying again makes sense. */
  readonly retryAfterMs?: number;
  /** Facts for programs: `candidates` and `near` names, `errors` of the schema, `timeoutMs`, `signIn`. */
  readonly details?: JsonObject;
  /**
   * The `isError` result that callers get: with `tool_error` the tool's own as it came, passed on unchanged by the MCP
   * door.
   */
  readonly result?: JsonObject;
  /** The protocol error as an MCP upstream sent it, passed on unchanged by the MCP door. */
  readonly rpcError?: RpcErrorObject;
  /**
   * With `denied`: all scopes that an access token needs for this operation. Over HTTP the refusal is a 403 whose
   * challenge names them (RFC 6750, `insufficient_scope`).
   */
  readonly requiredScopes?: readonly string[];
  /** For the log only. */
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
