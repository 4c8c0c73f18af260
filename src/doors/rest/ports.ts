import type { Chat } from "../../core/chat.ts";
import type { ToolMode } from "../../core/call.ts";
import type { HubPort, View } from "../../core/hub-port.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Fail } from "../../core/outcome.ts";
import type { Logger, SearchAnswer } from "../../core/ports.ts";
import type { HttpExchange } from "../../http/exchange.ts";

/** What the REST door asks of the hub beyond what every door does. */
export interface RestHub extends Pick<HubPort, "list" | "call" | "facts"> {
  search(query: string, limit: number, view: View): Promise<SearchAnswer>;
  /** The tool that a spelling means to this caller, listed or not, in its wire shape; or why there is none. */
  describeTool(
    spelling: string,
    view: View,
  ): Promise<{ readonly found: true; readonly entry: JsonObject } | { readonly found: false; readonly failure: Fail }>;
}

export interface RestParts {
  readonly hub: RestHub;
  readonly logger: Logger;
  /** The agent as it is now; nothing while no model is configured. */
  readonly chat: () => Chat | undefined;
  readonly defaultMode: ToolMode;
  /** Callers must send a token. */
  readonly hasTokens: boolean;
  /** The tool mode that a request names. */
  modeOf(exchange: HttpExchange): ToolMode | undefined;
}
