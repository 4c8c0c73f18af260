import type { LogLevel } from "../ports/ports.ts";

/** Condition under which the hub, or with `later` its caller, may send a failed call again. */
export type RetryRule = "never" | "later" | "always" | "if-idempotent";

/**
 * Effect of a failure on the circuit breaker of the called server. `failure` counts towards opening the circuit.
 * `success` closes the circuit, because the server answered. `none` leaves the circuit unchanged.
 */
export type BreakerEffect = "failure" | "success" | "none";

export interface KindRow {
  /** Condition under which a call has this outcome. */
  readonly when: string;
  /** Error code in the JSON-RPC dialect. */
  readonly jsonrpc: number;
  /** HTTP status on `/api`, `/` and `/jsonrpc`. */
  readonly http: number;
  /** `status_code` in the bindings. */
  readonly status: number;
  /** Exit code of the command line. */
  readonly exit: number;
  /** Response to `tools/call`: an error code, or `"isError"` for a result with `isError: true`. */
  readonly mcp: number | "isError" | "by-revision" | "silence";
  /** Condition under which the hub sends the call again; with `later`, under which the caller does. */
  readonly retry: RetryRule;
  /** Default of `retryable` in an outcome. True if the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /**
   * Level of the log line: `info` for failures that callers cause, `warning` for failures that the operator can fix.
   */
  readonly log: LogLevel;
  readonly breaker: BreakerEffect;
  /**
   * True if the hub refused the call before a tool ran; its message is then complete without "Tool execution failed".
   */
  readonly beforeExecution: boolean;
  /**
   * True if the server gave no usable answer. Interfaces whose messages name a service then report the service as
   * unavailable.
   */
  readonly unanswered: boolean;
}

/**
 * Table of outcome codes, the only one. Endpoints, the log, the circuit breaker and the retry stage read it, and the
 * error page of the reference is generated from it. Code tests `outcome.kind`, never the text of a message.
 */
export const KINDS = {
  tool_error: {
    when: "the tool reports that it failed",
    mcp: "isError",
    jsonrpc: -32000,
    http: 500,
    status: 500,
    exit: 1,
    retry: "never",
    retryable: false,
    log: "info",
    breaker: "success",
    beforeExecution: false,
    unanswered: false,
  },
  unknown_tool: {
    when: "the caller's catalog has no tool with this name",
    mcp: -32602,
    jsonrpc: -32601,
    http: 404,
    status: 404,
    exit: 3,
    retry: "never",
    retryable: false,
    log: "info",
    breaker: "success",
    beforeExecution: true,
    unanswered: false,
  },
  ambiguous: {
    when: "more than one tool matches the name",
    mcp: -32602,
    jsonrpc: -32602,
    http: 409,
    status: 409,
    exit: 3,
    retry: "never",
    retryable: false,
    log: "info",
    breaker: "success",
    beforeExecution: true,
    unanswered: false,
  },
  invalid_params: {
    when: "the arguments do not match the tool's input schema",
    mcp: "by-revision",
    jsonrpc: -32602,
    http: 400,
    status: 400,
    exit: 2,
    retry: "never",
    retryable: false,
    log: "info",
    breaker: "success",
    beforeExecution: true,
    unanswered: false,
  },
  denied: {
    when: "the caller's rights do not include the tool, whether or not it exists",
    mcp: "isError",
    jsonrpc: -32000,
    http: 403,
    status: 403,
    exit: 1,
    retry: "never",
    retryable: false,
    log: "info",
    breaker: "success",
    beforeExecution: true,
    unanswered: false,
  },
  limited: {
    when: "a limit on rate, concurrency or budget is reached",
    mcp: "isError",
    jsonrpc: -32000,
    http: 429,
    status: 429,
    exit: 1,
    retry: "later",
    retryable: true,
    log: "warning",
    breaker: "success",
    beforeExecution: true,
    unanswered: false,
  },
  too_large: {
    when: "the body, the arguments or the result exceed their limit",
    mcp: "isError",
    jsonrpc: -32000,
    http: 413,
    status: 413,
    exit: 1,
    retry: "never",
    retryable: false,
    log: "warning",
    breaker: "success",
    beforeExecution: false,
    unanswered: false,
  },
  unavailable: {
    when: "the server cannot be reached, or its circuit breaker is open",
    mcp: "isError",
    jsonrpc: -32000,
    http: 503,
    status: 503,
    exit: 4,
    retry: "always",
    retryable: true,
    log: "warning",
    breaker: "failure",
    beforeExecution: false,
    unanswered: true,
  },
  needs_authorisation: {
    when: "the server requires a sign-in",
    mcp: "isError",
    jsonrpc: -32000,
    http: 502,
    status: 502,
    exit: 4,
    retry: "never",
    retryable: false,
    log: "warning",
    breaker: "success",
    beforeExecution: false,
    unanswered: true,
  },
  timeout: {
    when: "the deadline of the call passed",
    mcp: "isError",
    jsonrpc: -32000,
    http: 504,
    status: 504,
    exit: 5,
    retry: "if-idempotent",
    retryable: false,
    log: "warning",
    breaker: "failure",
    beforeExecution: false,
    unanswered: true,
  },
  cancelled: {
    when: "the caller cancelled the call or disconnected",
    mcp: "silence",
    jsonrpc: -32000,
    http: 499,
    status: 499,
    exit: 130,
    retry: "never",
    retryable: false,
    log: "debug",
    breaker: "none",
    beforeExecution: false,
    unanswered: false,
  },
  malformed: {
    when: "the answer of the server violates the protocol",
    mcp: "isError",
    jsonrpc: -32000,
    http: 502,
    status: 502,
    exit: 1,
    retry: "if-idempotent",
    retryable: false,
    log: "warning",
    breaker: "failure",
    beforeExecution: false,
    unanswered: true,
  },
  internal: {
    when: "an error in the hub itself",
    mcp: -32603,
    jsonrpc: -32603,
    http: 500,
    status: 500,
    exit: 70,
    retry: "never",
    retryable: false,
    log: "error",
    breaker: "none",
    beforeExecution: false,
    unanswered: true,
  },
} as const satisfies Record<string, KindRow>;

export type FailKind = keyof typeof KINDS;

/** Returns true if a text, for example from another hub, is an outcome code. */
export function isFailKind(text: string): text is FailKind {
  return Object.hasOwn(KINDS, text);
}

/**
 * Returns the outcome code that determines a failure's statuses: its own code, or the code that the tool gave as its
 * cause, such as `timeout` for a `TimeoutError`.
 */
export function causeKind(kind: FailKind, details: Readonly<Record<string, unknown>> = {}): FailKind {
  const cause = details["upstreamKind"];
  return kind === "tool_error" && typeof cause === "string" && Object.hasOwn(KINDS, cause) ? (cause as FailKind) : kind;
}

/** `_meta` key that holds the outcome code of a result that the hub created. */
export const KIND_META_KEY = "toolyard/kind";

/** `_meta` key of an MCP result or error that holds the milliseconds after which the call may be repeated. */
export const RETRY_META_KEY = "toolyard/retryAfterMs";
