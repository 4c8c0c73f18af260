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

/** Who calls. Sessions, limits and rights hang on `id`. Plain data, so that it travels whole between processes. */
export interface Principal {
  /** `"local"` for stdio, the library and an HTTP door without tokens; else the name of the token's entry. */
  readonly id: string;
  readonly rights: Rights;
  /** Calls a minute, whatever is configured for everybody; 0 for no bound. @default what is configured */
  readonly ratePerMinute?: number;
  /** It has no name, and may come from beyond this machine. @default false */
  readonly remote?: boolean;
  /** How lists name tools to it. Every spelling is understood in calls. @default "mcp" */
  readonly toolNames?: ToolNameStyle;
  /** Facts about an authenticated caller. Absent where the caller sent no credentials. */
  readonly identity?: Identity;
}

/** `mcp`: as MCP allows. `model`: as the APIs of models allow, without a dot and of at most 64 characters. */
export type ToolNameStyle = "mcp" | "model";

export const LOCAL_PRINCIPAL: Principal = Object.freeze({ id: "local", rights: EVERYTHING });

/** What one caller sees: only ways to tools, what is native, or all there is. */
export type ToolMode = "normal" | "discovery" | "all";

/** What is known of the program that calls, whatever protocol it speaks. */
export interface Client {
  /**
   * The lasting connection that the call came by: a session id, the stdio pipe, a library hub. Absent on connectionless
   * calls. Sources with one connection per session key them by it.
   */
  readonly connection?: string;
  readonly name?: string;
  readonly version?: string;
  /**
   * How it speaks MCP: with a handshake and questions as requests, or without either. Absent: it speaks something else.
   */
  readonly era?: "legacy" | "modern";
  /** Capabilities in MCP's shape: `{sampling, elicitation, roots}`. */
  readonly capabilities: JsonObject;
}

/** A request that whatever stands behind a call makes of its caller: elicitation, sampling, roots. */
export interface ServerRequest {
  readonly method: string;
  readonly params: JsonObject;
  /**
   * It may be another call's than the one it is put by, as a server's that names none: that call's end does not
   * withdraw it, only the signal given with it does. @default false
   */
  readonly outlivesCall?: boolean;
}

/**
 * What a running call sends to its caller: `notifications/progress` (params without token) or `notifications/message`.
 */
export interface CallNotification {
  readonly method: string;
  readonly params: JsonObject;
}

/** Tools, resources, prompts and completion alike: what one caller wants, with all that is needed to answer. */
export interface Call {
  /** Unique within this process; appears in the audit line and in error ids. */
  readonly id: string;
  /**
   * Id of the call on whose behalf this one is made. That one was counted and admitted already, so limits of the client
   * do not apply again.
   */
  readonly parent?: string;
  /** How many calls this one is made inside of. @default 0 */
  readonly depth?: number;
  /** The door it came by: `mcp-http`, `mcp-stdio`, `cli`, `library`, `jsonrpc`, … */
  readonly endpoint: string;
  readonly method: CallMethod;
  /** Tool or prompt name as the caller spelt it, or a resource URI, or for completion the name or URI of its `ref`. */
  readonly target: string;
  /**
   * `params` as they came, without `_meta` and without `name`, `uri` and `arguments`; unknown members are passed on.
   */
  readonly params: JsonObject;
  readonly arguments: JsonObject;
  /** The caller's `_meta` without the envelope and without `progressToken`. */
  readonly meta: JsonObject;
  readonly principal: Principal;
  /** What the caller sees; suggestions and what is hidden follow it. */
  readonly mode: ToolMode;
  readonly client: Client;
  /** Aborted when the caller cancels or goes; the deadline has its own signal. May be made at the first look. */
  readonly signal: AbortSignal;
  /** The same for whoever needs no `AbortSignal`. Absent: there is the signal only. */
  readonly cancellation?: Cancellation;
  /** Models that the calling program lends to what it calls; they go before the configured ones. */
  readonly models?: Models;
  /** Time that the caller allows, if it says so; the pipeline's deadline stage nests the hub's own inside. */
  readonly deadline?: Deadline;
  /** Whether the caller wants progress, and log messages from which level on. */
  readonly wants: { readonly progress: boolean; readonly logLevel?: string };
  /** Sends progress or a log message to the caller. Never throws; does nothing once the call is over. */
  notify(notification: CallNotification): void;
  /**
   * Asks the caller and waits for the answer's `result`. Rejects with a `FailError` when the caller declines by
   * protocol error, cannot be asked (capability not declared, nobody listens) or goes. Several asks of one call may
   * wait at once.
   */
  ask(ask: ServerRequest, signal?: AbortSignal): Promise<JsonObject>;
  /**
   * True when the door hands a result of `resultType: "input_required"` to the caller as it is, and the caller comes
   * back with `inputResponses` and `requestState` in `params`. Otherwise whoever stands behind the call uses `ask`.
   */
  readonly relaysInput: boolean;
}

/** What ends the call, without making a signal where none is needed. */
export function cancellationOf(call: Pick<Call, "cancellation" | "signal">): Cancellation {
  // Not taken apart: to look at the signal is to make it.
  return call.cancellation ?? call.signal;
}
