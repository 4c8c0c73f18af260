/**
 * The one table of outcome kinds. Every door takes its answer from here, and the reference page of errors is made from
 * it. Code asks for the kind, never for the words of a message.
 */
export type RetryRule = "never" | "later" | "always" | "if-idempotent";

export interface KindRow {
  /** When this kind is the answer. */
  readonly when: string;
  /** Error code in the JSON-RPC dialect. */
  readonly jsonrpc: number;
  /** HTTP status on `/api`, `/` and `/jsonrpc`. */
  readonly http: number;
  /** `status_code` on the bindings surface. */
  readonly status: number;
  /** Exit code of the command line. */
  readonly exit: number;
  /** How `tools/call` says it: an error code, or `"isError"` for a result with `isError: true`. */
  readonly mcp: number | "isError" | "by-revision" | "silence";
  readonly retry: RetryRule;
}

export const KINDS = {
  tool_error: {
    when: "the tool says it failed",
    mcp: "isError",
    jsonrpc: -32000,
    http: 500,
    status: 500,
    exit: 1,
    retry: "never",
  },
  unknown_tool: {
    when: "no such name in this view of things",
    mcp: -32602,
    jsonrpc: -32601,
    http: 404,
    status: 404,
    exit: 3,
    retry: "never",
  },
  ambiguous: {
    when: "several tools answer to the name",
    mcp: -32602,
    jsonrpc: -32602,
    http: 409,
    status: 409,
    exit: 3,
    retry: "never",
  },
  invalid_params: {
    when: "the schema says no",
    mcp: "by-revision",
    jsonrpc: -32602,
    http: 400,
    status: 400,
    exit: 2,
    retry: "never",
  },
  denied: {
    when: "the caller has no right to it, or to a thing of that name if there were one",
    mcp: "isError",
    jsonrpc: -32000,
    http: 403,
    status: 403,
    exit: 1,
    retry: "never",
  },
  limited: {
    when: "rate, concurrency or budget",
    mcp: "isError",
    jsonrpc: -32000,
    http: 429,
    status: 429,
    exit: 1,
    retry: "later",
  },
  too_large: {
    when: "body, arguments or result over the bound",
    mcp: "isError",
    jsonrpc: -32000,
    http: 413,
    status: 413,
    exit: 1,
    retry: "never",
  },
  unavailable: {
    when: "upstream not there, or its breaker open",
    mcp: "isError",
    jsonrpc: -32000,
    http: 503,
    status: 503,
    exit: 4,
    retry: "always",
  },
  needs_authorisation: {
    when: "upstream wants a sign-in",
    mcp: "isError",
    jsonrpc: -32000,
    http: 502,
    status: 502,
    exit: 4,
    retry: "never",
  },
  timeout: {
    when: "the deadline passed",
    mcp: "isError",
    jsonrpc: -32000,
    http: 504,
    status: 504,
    exit: 5,
    retry: "if-idempotent",
  },
  cancelled: {
    when: "the caller went",
    mcp: "silence",
    jsonrpc: -32000,
    http: 499,
    status: 499,
    exit: 130,
    retry: "never",
  },
  malformed: {
    when: "upstream answered nonsense",
    mcp: "isError",
    jsonrpc: -32000,
    http: 502,
    status: 502,
    exit: 1,
    retry: "if-idempotent",
  },
  internal: {
    when: "a fault of this program",
    mcp: -32603,
    jsonrpc: -32603,
    http: 500,
    status: 500,
    exit: 70,
    retry: "never",
  },
} as const satisfies Record<string, KindRow>;

export type FailKind = keyof typeof KINDS;

/** `_meta` key under which a result made by the hub says its kind. */
export const KIND_META_KEY = "toolyard/kind";

/** Where a result or an error of MCP says when to try again, in milliseconds. */
export const RETRY_META_KEY = "toolyard/retryAfterMs";
