import type { Call } from "./call.ts";
import type { JsonObject } from "../json/json.ts";
import type { Outcome } from "./outcome.ts";
import type { SearchAnswer, SearchBounds } from "../ports/ports.ts";

/** Call that a running call makes. */
export interface InnerCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /**
   * True if the parent only forwards its request to this call (`execute_tool`). This call then uses the parent's link
   * to the caller, and returns a request for input unchanged. Otherwise server requests go through the parent's `ask`.
   * @default false
   */
  readonly standsFor?: boolean;
}

/** Access to the hub for a running call, with the rights, time limit and cancellation of its caller. */
export interface InnerHub {
  call(wanted: InnerCall, parent: Call): Promise<Outcome>;
  /** Reads a resource. */
  read(uri: string, parent: Call): Promise<Outcome>;
  search(query: string, parent: Call, bounds: SearchBounds): Promise<SearchAnswer>;
  /**
   * Returns every tool that the parent's caller may use, including ondemand tools, in the form of `tools/list`. The
   * list is shared and must not be changed.
   */
  list(parent: Call): Promise<readonly JsonObject[]>;
}
