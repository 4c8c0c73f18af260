import type { JsonObject } from "../core/json/json.ts";
import type { Outcome } from "../core/calls/outcome.ts";

/** Source of an agent's tools: a hub in this process, a remote server, or any object that lists and calls tools. */
export interface AgentHub {
  /**
   * Returns tools in MCP's format. `normal`: the tools in the hub's list; `all`: every tool; `discovery`: the tools
   * that search and call.
   */
  list(options: { readonly mode: "all" | "normal" | "discovery" }): Promise<readonly JsonObject[]>;
  /** Calls a tool by any spelling of its name. An expected failure is an outcome; it never throws. */
  call(
    tool: string,
    args: JsonObject,
    options: { readonly signal: AbortSignal; readonly meta?: JsonObject },
  ): Promise<Outcome>;
  /** Returns the servers' instructions. */
  facts?(): Promise<{ readonly instructions?: string }>;
}
