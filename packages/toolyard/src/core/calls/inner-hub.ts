import type { Call } from "./call.ts";
import type { JsonObject } from "../json/json.ts";
import type { Outcome } from "./outcome.ts";
import type { SearchAnswer, SearchBounds } from "../ports/ports.ts";

/** A call that another one makes. */
export interface InnerCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /**
   * The parent is nothing but a way to this call (`execute_tool`), so what its caller sent beside the arguments goes
   * along, and a request for input is handed back as it is. Otherwise questions go through the parent's `ask`.
   * @default false
   */
  readonly standsFor?: boolean;
}

/** Lets a running call use the hub again, with its own caller's rights, time and cancellation: the parent's. */
export interface InnerHub {
  call(wanted: InnerCall, parent: Call): Promise<Outcome>;
  /** Reads a resource. */
  read(uri: string, parent: Call): Promise<Outcome>;
  search(query: string, parent: Call, bounds: SearchBounds): Promise<SearchAnswer>;
  /**
   * Every tool that the parent's caller may use, found by search only or not, as `tools/list` says it. Shared: read
   * only.
   */
  list(parent: Call): Promise<readonly JsonObject[]>;
}
