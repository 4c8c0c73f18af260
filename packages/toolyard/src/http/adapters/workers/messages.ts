import type { JsonObject } from "../../../core/json/json.ts";
import type { HttpOptions } from "../../options.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import type { RequestHeaders } from "../../wire.ts";

/** Settings of a worker before it serves. They contain no tokens: the worker asks the primary who a caller is. */
export interface WorkerSettings {
  readonly options: HttpOptions;
  readonly routes: readonly WorkerRoute[];
  /** The key pair of its connections. */
  readonly pair?: KeyPair;
}

export interface WorkerRoute {
  readonly methods: readonly string[];
  readonly path: string;
  readonly isOpen?: boolean;
  readonly isShared?: boolean;
  readonly isAtRoot?: boolean;
  /**
   * The refusals of this path by status: JSON text in which `REFUSAL_MARK` is replaced by the message. Absent: JSON-RPC
   * errors.
   */
  readonly refusals?: Readonly<Record<number, string>>;
}

/** Placeholder for a refusal's message in a JSON string. */
export const REFUSAL_MARK = "%toolyard-refusal%";
/** Statuses that a listener answers itself. */
export const REFUSAL_STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 500, 503];

/** A request that has passed every check of the listener. The frame contains its body. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** Index in `routes`. */
  readonly route: number;
  readonly headers: RequestHeaders;
  /** The whole principal, as `writePrincipal` writes it. */
  readonly principal: string;
  readonly remoteAddress: string;
  readonly baseUrl: string;
  readonly path: string;
  readonly search: string;
  /** Path of the endpoint, as clients know it. */
  readonly mount: string;
  /** The reason for an incomplete body, for code that reads it. */
  readonly refusal?: {
    readonly status: number;
    readonly message: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

export interface WorkerAnswerHead {
  readonly status: number;
  /** Only `set-cookie` has several values. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

export interface LogHead {
  readonly level: "debug" | "info" | "warning" | "error";
  readonly message: string;
  readonly facts?: JsonObject;
}
