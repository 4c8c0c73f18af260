import type { JsonObject } from "../../../core/json/json.ts";
import type { HttpOptions } from "../../options.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import type { RequestHeaders } from "../../wire.ts";

/** What a worker is told before it serves. Tokens are not for it: it asks who a caller is. */
export interface WorkerSettings {
  readonly options: HttpOptions;
  readonly routes: readonly WorkerRoute[];
  /** What its connections are encrypted with. */
  readonly pair?: KeyPair;
}

export interface WorkerRoute {
  readonly methods: readonly string[];
  readonly path: string;
  readonly isOpen?: boolean;
  /**
   * How this path says a refusal, by status: JSON text in which `REFUSAL_MARK` stands for the message. Absent: as
   * JSON-RPC.
   */
  readonly refusals?: Readonly<Record<number, string>>;
}

/** Stands in a JSON string for the message of a refusal. */
export const REFUSAL_MARK = "%toolyard-refusal%";
/** What a listener answers by itself. */
export const REFUSAL_STATUSES: readonly number[] = [400, 401, 403, 404, 405, 413, 415, 500, 503];

/** A request that has passed every check of the listener. Its body is that of the frame. */
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
  /** Why there is no whole body, for whoever wants to read it. */
  readonly refusal?: {
    readonly status: number;
    readonly message: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

export interface WorkerAnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LogHead {
  readonly level: "debug" | "info" | "warning" | "error";
  readonly message: string;
  readonly facts?: JsonObject;
}
