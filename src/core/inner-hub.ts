import type { Call } from "./call.ts";
import type { JsonObject } from "./json.ts";
import type { Outcome } from "./outcome.ts";
import type { SearchAnswer, SearchFilter } from "./ports.ts";

/** Lets a running call use the hub again, with its own caller's rights, time and cancellation: the parent's. */
export interface InnerHub {
  /**
   * `standsFor`: the parent is nothing but a way to this call (`execute_tool`), so what its caller sent beside the
   * arguments goes along, and a request for input is handed back as it is. Otherwise questions go through the parent's
   * `ask`.
   */
  call(tool: string, args: JsonObject, parent: Call, options?: { readonly standsFor?: boolean }): Promise<Outcome>;
  search(query: string, limit: number, parent: Call, filter?: SearchFilter): Promise<SearchAnswer>;
  /**
   * Every tool that the parent's caller may use, found by search only or not, as `tools/list` says it. Shared: read
   * only.
   */
  list(parent: Call): Promise<readonly JsonObject[]>;
}
