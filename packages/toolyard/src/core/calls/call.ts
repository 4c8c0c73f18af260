import type { Cancellation } from "./cancellation.ts";
import type { Deadline } from "./deadline.ts";
import type { Identity } from "./identity.ts";
import type { JsonObject } from "../json/json.ts";
import type { Models } from "../ports/models.ts";
import { EVERYTHING, type Rights } from "../ports/rights.ts";

/**
 * `extension` is a method that this hub does not know: `target` is its name, and it goes to the only source of the hub.
 */
export type CallMethod = "tools/call" | "resources/read" | "prompts/get" | "completion/complete" | "extension";

/** The caller. Sessions, limits and rights depend on `id`. Plain data, so that it can be sent between processes. */
export interface Principal {
  /** `"local"` for stdio, the library and an HTTP endpoint without tokens; else the name of the token's entry. */
  readonly id: string;
  readonly rights: Rights;
  /** Calls per minute, overriding the general limit; 0 for no limit. @default the configured limit */
  readonly ratePerMinute?: number;
  /** True if it is unauthenticated and may come from another machine. @default false */
  readonly remote?: boolean;
  /** How lists name tools to it. Calls accept every spelling. @default "mcp" */
  readonly toolNames?: ToolNameStyle;
  /** Facts about an authenticated caller. Absent where the caller sent no credentials. */
  readonly identity?: Identity;
  /** Names of its roles. @default none */
  readonly roles?: readonly string[];
  /** Scopes that it may use. @default those of its identity */
  readonly scopes?: readonly string[];
  /** The profile that it reached the hub by; `rights` are within it. @default none */
  readonly profile?: PrincipalProfile;
}

/** A profile as it travels with a caller. */
export interface PrincipalProfile {
  readonly name: string;
  /** Tool mode of requests that name none. @default that of the hub */
  readonly toolMode?: ToolMode;
}

/**
 * `mcp`: names as MCP allows them. `model`: names as model APIs allow them, without a dot and of at most 64 characters.
 */
export type ToolNameStyle = "mcp" | "model";

export const LOCAL_PRINCIPAL: Principal = Object.freeze({ id: "local", rights: EVERYTHING });

/** The tools that a caller's lists contain: only the search tools, the native ones, or all. */
export type ToolMode = "normal" | "discovery" | "all";

/** The calling program, for any protocol. */
export interface Client {
  /**
   * Id of the lasting connection that carried the call: a session id, the stdio pipe, a library hub. Absent on
   * connectionless calls. Sources with one connection per session use it as the key.
   */
  readonly connection?: string;
  readonly name?: string;
  readonly version?: string;
  /** The era of its MCP: with a handshake and server requests, or without either. Absent: it uses another protocol. */
  readonly era?: "legacy" | "modern";
  /** Capabilities in MCP's shape: `{sampling, elicitation, roots}`. */
  readonly capabilities: JsonObject;
}

/** A server request: elicitation, sampling or roots, sent to the caller of a call. */
export interface ServerRequest {
  readonly method: string;
  readonly params: JsonObject;
  /**
   * True if it may belong to another call, like a request of a server that names no call: the end of this call does not
   * withdraw it, only its own signal does. @default false
   */
  readonly outlivesCall?: boolean;
}

/**
 * A notification to the caller of a running call: `notifications/progress` (params without token) or
 * `notifications/message`.
 */
export interface CallNotification {
  readonly method: string;
  readonly params: JsonObject;
}

/** A request for a tool, resource, prompt or completion, with everything that is needed to answer it. */
export interface Call {
  /** Unique within this process; appears in the audit line and in error ids. */
  readonly id: string;
  /**
   * Id of the call that makes this one. That one was already counted and admitted, so the client's limits do not apply
   * again.
   */
  readonly parent?: string;
  /** Number of calls around this one. @default 0 */
  readonly depth?: number;
  /** The endpoint that received it: `mcp-http`, `mcp-stdio`, `cli`, `library`, `jsonrpc`, … */
  readonly endpoint: string;
  readonly method: CallMethod;
  /**
   * Tool or prompt name as the caller spelled it, or a resource URI, or for completion the name or URI of its `ref`.
   */
  readonly target: string;
  /** `params` as received, without `_meta`, `name`, `uri` and `arguments`; unknown members are passed on. */
  readonly params: JsonObject;
  readonly arguments: JsonObject;
  /** The caller's `_meta` without the envelope and without `progressToken`. */
  readonly meta: JsonObject;
  readonly principal: Principal;
  /** The caller's tool mode; suggestions and hidden tools depend on it. */
  readonly mode: ToolMode;
  readonly client: Client;
  /**
   * Aborted when the caller cancels or disconnects; the deadline has its own signal. May be created on first access.
   */
  readonly signal: AbortSignal;
  /** The same for code that needs no `AbortSignal`. Absent: only the signal exists. */
  readonly cancellation?: Cancellation;
  /** Models that the calling program supplies; they precede the configured ones. */
  readonly models?: Models;
  /** Time limit set by the caller; the pipeline's deadline stage nests the hub's own limit inside. */
  readonly deadline?: Deadline;
  /** Progress and log messages that the caller requests; `logLevel` is the least level. */
  readonly wants: { readonly progress: boolean; readonly logLevel?: string };
  /** Sends progress or a log message to the caller. Never throws; does nothing after the end of the call. */
  notify(notification: CallNotification): void;
  /**
   * Sends a server request to the caller and resolves with the answer's `result`. Rejects with a `FailError` if the
   * caller declines with a protocol error, cannot be asked (capability not declared, no open stream) or disconnects.
   * Several requests of one call may wait concurrently.
   */
  ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject>;
  /**
   * True if the endpoint passes a result of `resultType: "input_required"` to the caller unchanged, and the caller
   * returns with `inputResponses` and `requestState` in `params`. Otherwise the provider uses `ask`.
   */
  readonly relaysInput: boolean;
}

/** Returns the cancellation of the call without creating a signal if none is needed. */
export function cancellationOf(call: Pick<Call, "cancellation" | "signal">): Cancellation {
  // Do not destructure: reading `signal` creates the AbortSignal.
  return call.cancellation ?? call.signal;
}
