import type { JsonObject } from "../core/json/json.ts";
import type { Outcome } from "../core/calls/outcome.ts";

/** Where an agent finds its tools: a hub in process, a server elsewhere, or whatever lists and calls. */
export interface AgentHub {
  /**
   * Tools in MCP's wire shape. `normal`: as it lists them by itself; `all`: every one; `discovery`: those that search
   * and call.
   */
  list(options: { readonly mode: "all" | "normal" | "discovery" }): Promise<readonly JsonObject[]>;
  /** Calls a tool by any spelling of its name. An expected failure is an outcome, never a throw. */
  call(tool: string, args: JsonObject, options: { readonly signal: AbortSignal }): Promise<Outcome>;
  /** What the servers say about their use. */
  facts?(): Promise<{ readonly instructions?: string }>;
}
