import type { Call } from "./call.ts";
import type { JsonObject } from "../json/json.ts";
import type { Outcome } from "./outcome.ts";
import type { SearchAnswer, SearchBounds } from "../ports/ports.ts";

/** A call made by another call. */
export interface InnerCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /**
   * The parent only forwards to this call (`execute_tool`): its caller's further members are passed on, and a request
   * for input is returned unchanged. Otherwise server requests go through the parent's `ask`.
   * @default false
   */
  readonly standsFor?: boolean;
}

/** Lets a running call use the hub again, with the rights, time and cancellation of its caller. */
export interface InnerHub {
  call(wanted: InnerCall, parent: Call): Promise<Outcome>;
  /** Reads a resource. */
  read(uri: string, parent: Call): Promise<Outcome>;
  search(query: string, parent: Call, bounds: SearchBounds): Promise<SearchAnswer>;
  /**
   * Returns every tool that the parent's caller may use, including ondemand ones, as `tools/list` shows it. Shared:
   * read only.
   */
  list(parent: Call): Promise<readonly JsonObject[]>;
}
