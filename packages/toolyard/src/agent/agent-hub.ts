import type { JsonObject } from "../core/json/json.ts";
import type { Outcome } from "../core/calls/outcome.ts";

/** Source of an agent's tools: a hub in process, a remote server, or any object that lists and calls. */
export interface AgentHub {
  /**
   * Tools in MCP's wire shape. `normal`: as it lists them by itself; `all`: every one; `discovery`: those that search
   * and call.
   */
  list(options: { readonly mode: "all" | "normal" | "discovery" }): Promise<readonly JsonObject[]>;
  /** Calls a tool by any spelling of its name. An expected failure is an outcome, never a throw. */
  call(tool: string, args: JsonObject, options: { readonly signal: AbortSignal }): Promise<Outcome>;
  /** Returns the servers' instructions. */
  facts?(): Promise<{ readonly instructions?: string }>;
}
