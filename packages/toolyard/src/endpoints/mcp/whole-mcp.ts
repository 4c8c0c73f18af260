import { isJsonObject } from "../../core/json/json.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { claimsModernEra, isModernRevision } from "../../wire/modern/envelope.ts";

/**
 * Returns true if a posted body needs MCP with its sessions, streams and eras, on a path that other dialects share: if
 * it names a session or a modern revision, or opens a session and the client can keep one.
 */
export function needsWholeMcp(body: unknown, exchange: Pick<HttpExchange, "header">): boolean {
  if (exchange.header("mcp-session-id") !== undefined) return true;
  if (isModernRevision(exchange.header("mcp-protocol-version")?.trim())) return true;
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (messages.some((message) => isJsonObject(message) && claimsModernEra(message["params"]))) return true;
  const isOpening = messages.some((message) => isJsonObject(message) && message["method"] === "initialize");
  return isOpening && exchange.header("accept")?.includes("text/event-stream") === true;
}
