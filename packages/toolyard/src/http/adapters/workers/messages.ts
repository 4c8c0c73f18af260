import type { JsonObject } from "../../../core/json/json.ts";
import type { HttpOptions } from "../../options.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import type { RequestHeaders } from "../../wire.ts";

/**
 * Settings that a worker receives before it serves. They contain no tokens: the worker asks the primary for the
 * principal of a caller.
 */
export interface WorkerSettings {
  readonly options: HttpOptions;
  readonly routes: readonly WorkerRoute[];
  /** Key pair for the worker's connections. */
  readonly pair?: KeyPair;
}

export interface WorkerRoute {
  readonly methods: readonly string[];
  readonly path: string;
  readonly isOpen?: boolean;
  readonly isShared?: boolean;
  readonly isAtRoot?: boolean;
  readonly signInAt?: string;
  /**
   * Bodies of the refusals on this path, by status: JSON text in which `REFUSAL_MARK` is replaced by the message.
   * Absent: JSON-RPC errors.
   */
  readonly refusals?: Readonly<Record<number, string>>;
}

/** Placeholder for a refusal's message in a JSON string. */
export const REFUSAL_MARK = "%toolyard-refusal%";
/** Statuses of the listener's own refusals. */
export const REFUSAL_STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 500, 503];

/** Request that has passed all checks of the listener. Its body is in the frame. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** Index in `routes`. */
  readonly route: number;
  readonly headers: RequestHeaders;
  /** Whole principal in the form of `writePrincipal`. */
  readonly principal: string;
  readonly remoteAddress: string;
  readonly baseUrl: string;
  readonly path: string;
  readonly search: string;
  /** Path of the endpoint, as clients know it. */
  readonly mount: string;
  /** Reason why the body is incomplete, for the code that reads it. */
  readonly refusal?: {
    readonly status: number;
    readonly message: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

export interface WorkerAnswerHead {
  readonly status: number;
  /** Headers of the answer. Only `set-cookie` may have several values. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export interface LogHead {
  readonly level: "debug" | "info" | "warning" | "error";
  readonly message: string;
  readonly facts?: JsonObject;
}
