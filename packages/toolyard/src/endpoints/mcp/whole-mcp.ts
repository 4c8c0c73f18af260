import { isJsonObject } from "../../core/json/json.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { claimsModernEra, isModernRevision } from "../../wire/modern/envelope.ts";

/**
 * Returns whether a posted body needs MCP with its sessions, streams and eras, on a path that other dialects share: it
 * names a session or a modern revision, or opens a session as a client that can hold one would.
 */
export function needsWholeMcp(body: unknown, exchange: Pick<HttpExchange, "header">): boolean {
  if (exchange.header("mcp-session-id") !== undefined) return true;
  if (isModernRevision(exchange.header("mcp-protocol-version")?.trim())) return true;
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (messages.some((message) => isJsonObject(message) && claimsModernEra(message["params"]))) return true;
  const isOpening = messages.some((message) => isJsonObject(message) && message["method"] === "initialize");
  return isOpening && exchange.header("accept")?.includes("text/event-stream") === true;
}
