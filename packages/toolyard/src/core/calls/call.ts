import type { Cancellation } from "./cancellation.ts";
import type { Deadline } from "./deadline.ts";
import type { Identity } from "./identity.ts";
import type { JsonObject } from "../json/json.ts";
import type { Models } from "../ports/models.ts";
import type { Span } from "../ports/tracing.ts";
import { EVERYTHING, type Rights } from "../ports/rights.ts";
import type { TaskOffer, UpstreamTask } from "./task-offer.ts";

/**
 * Method of a call. `extension` is a method that the hub does not know: `target` is the method's name, and the call
 * goes to the only source of the hub.
 */
export type CallMethod = "tools/call" | "resources/read" | "prompts/get" | "completion/complete" | "extension";

/**
 * Caller of the hub. Sessions, limits and rights depend on `id`. Plain data, so that it can be sent between processes.
 */
export interface Principal {
  /** `"local"` for stdio, the library and an HTTP endpoint without tokens; otherwise the name of the token's entry. */
  readonly id: string;
  readonly rights: Rights;
  /** Calls per minute, overriding the general limit; 0 for no limit. @default the configured limit */
  readonly ratePerMinute?: number;
  /** True if the caller is unauthenticated and may be on another machine. @default false */
  readonly remote?: boolean;
  /** Form of the tool names in lists that the caller gets. Calls accept every spelling. @default "mcp" */
  readonly toolNames?: ToolNameStyle;
  /** Facts about an authenticated caller. Absent if the caller sent no credentials. */
  readonly identity?: Identity;
  /** Names of the caller's roles. @default none */
  readonly roles?: readonly string[];
  /** Scopes that the caller may use. @default the scopes of its identity */
  readonly scopes?: readonly string[];
  /** Profile through which the caller reached the hub. `rights` are limited to it. @default none */
  readonly profile?: PrincipalProfile;
}

/** Profile of a caller, as plain data. */
export interface PrincipalProfile {
  readonly name: string;
  /** Tool mode of requests that name no tool mode. @default the tool mode of the hub */
  readonly toolMode?: ToolMode;
}

/**
 * Form of tool names. `mcp`: as MCP allows them. `model`: as model APIs allow them, without a dot and with at most 64
 * characters.
 */
export type ToolNameStyle = "mcp" | "model";

export const LOCAL_PRINCIPAL: Principal = Object.freeze({ id: "local", rights: EVERYTHING });

/**
 * Tools in a caller's lists. `normal`: the native tools, with the discovery tools if there are further tools.
 * `discovery`: only the discovery tools. `all`: all tools.
 */
export type ToolMode = "normal" | "discovery" | "all";

/** Program of the caller, for any protocol. */
export interface Client {
  /**
   * Id of the lasting connection over which the call arrived: a session id, the stdio pipe, a library hub. Absent for
   * connectionless calls. Sources with one connection per session use it as the key.
   */
  readonly connection?: string;
  readonly name?: string;
  readonly version?: string;
  /**
   * Era of the client's MCP: `legacy` has a handshake and server requests, `modern` has neither. Absent: another
   * protocol.
   */
  readonly era?: "legacy" | "modern";
  /** Capabilities in the form of MCP: `{sampling, elicitation, roots}`. */
  readonly capabilities: JsonObject;
}

/** A server request: elicitation, sampling or roots, sent to the caller of a call. */
export interface ServerRequest {
  readonly method: string;
  readonly params: JsonObject;
  /**
   * True if the request may belong to another call, because the server does not name the call. The end of this call
   * then does not withdraw the request; only its own signal does. @default false
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

/** Request for a tool, resource, prompt or completion, with all data that is needed to answer it. */
export interface Call {
  /** Id that is unique within this process. The audit line and error ids contain it. */
  readonly id: string;
  /**
   * Id of the call that made this call. The parent was already counted and admitted, so the client's limits do not
   * apply again.
   */
  readonly parent?: string;
  /** Number of calls that enclose this call. @default 0 */
  readonly depth?: number;
  /** Endpoint that received the call: `mcp-http`, `mcp-stdio`, `cli`, `library`, `jsonrpc`, … */
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
  /** Tool mode of the caller. Suggestions and hidden tools depend on it. */
  readonly mode: ToolMode;
  readonly client: Client;
  /**
   * Aborted when the caller cancels or disconnects. The deadline has a separate signal. May be created on first access.
   */
  readonly signal: AbortSignal;
  /** The same cancellation for code that needs no `AbortSignal`. Absent: only the signal exists. */
  readonly cancellation?: Cancellation;
  /** Models that the calling program supplies. They are used before the configured models. */
  readonly models?: Models;
  /** Time limit set by the caller; the pipeline's deadline stage nests the hub's own limit inside. */
  readonly deadline?: Deadline;
  /** Progress and log messages that the caller requests. `logLevel` is the lowest level to send. */
  readonly wants: { readonly progress: boolean; readonly logLevel?: string };
  /** Sends progress or a log message to the caller. Never throws; does nothing after the end of the call. */
  notify(notification: CallNotification): void;
  /**
   * Sends a server request to the caller and resolves with the `result` of the answer. Rejects with a `FailError` if
   * the caller declines with a protocol error, disconnects, or cannot receive requests (capability not declared, no
   * open stream). Several requests of one call may be pending concurrently.
   */
  ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject>;
  /**
   * True if the endpoint passes a result of `resultType: "input_required"` to the caller unchanged, and the caller
   * repeats the call with `inputResponses` and `requestState` in `params`. Otherwise the provider uses `ask`.
   */
  readonly relaysInput: boolean;
  /** Present if the caller supports tasks, so that a long call may continue after its request. */
  readonly taskOffer?: TaskOffer;
  /** Span of the request that is this call. Absent: no request is recorded, or another call made this one. */
  readonly requestSpan?: Span;
  /** Task of an upstream server that already runs this call. The call waits for its end instead of calling the tool. */
  readonly follows?: UpstreamTask;
}

/** Returns the cancellation of the call without creating a signal if none is needed. */
export function cancellationOf(call: Pick<Call, "cancellation" | "signal">): Cancellation {
  // Do not destructure: reading `signal` creates the AbortSignal.
  return call.cancellation ?? call.signal;
}
