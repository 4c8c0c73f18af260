import { isJsonObject } from "../../core/json.ts";
import type { Dialect } from "../../doors/dialect.ts";
import { JsonRpcHttpDoor } from "../../doors/jsonrpc/http-door.ts";
import { isDialectMethod, JsonRpcDialect } from "../../doors/jsonrpc/json-rpc-dialect.ts";
import type { Conversation, McpOnHttp, ReplyOutlet } from "../../doors/jsonrpc/ports.ts";
import type { Principal } from "../../core/call.ts";
import { McpHttpDoor, type McpHttpParts } from "../../doors/mcp/http-door.ts";
import { LegacySession, type SessionDeps } from "../../doors/mcp/legacy/session.ts";
import { toolModeOfRequest } from "../../doors/mcp/tool-mode.ts";
import { needsWholeMcp } from "../../doors/mcp/whole-mcp.ts";
import type { Listener } from "../../http/listener.ts";
import { describeServer } from "../builtin-ports.ts";
import type { Hub } from "../hub.ts";

/** What is spoken behind MCP, in order: a method goes to the first that knows it. */
export function createDialects(hub: Hub): readonly Dialect[] {
  return [new JsonRpcDialect({ hub, logger: hub.logger, describeServer: () => describeServer(hub) })];
}

export interface JsonRpcMount {
  readonly listener: Listener;
  readonly mcp: McpHttpParts;
  readonly session: SessionDeps;
}

/** Speaks the dialect at `/` and `/jsonrpc`, where MCP is spoken too. */
export function mountJsonRpc(hub: Hub, { listener, mcp, session }: JsonRpcMount): JsonRpcHttpDoor {
  const door = createDoor(hub, { mcp, session }, needsWholeMcp);
  door.mount(listener);
  return door;
}

/** Speaks MCP at `/mcp`, and the dialect for messages that are none of MCP's. */
export function mountBoth(hub: Hub, { listener, mcp, session }: JsonRpcMount, path = "/mcp"): JsonRpcHttpDoor {
  const mcpDoor = new McpHttpDoor(mcp);
  const door = createDoor(
    hub,
    { mcp, session },
    (body, exchange) => needsWholeMcp(body, exchange) || !isDialectBody(body),
  );
  listener.route(["GET", "POST", "DELETE"], path, (exchange) =>
    exchange.method === "POST" ? door.serve(exchange) : mcpDoor.serve(exchange),
  );
  return door;
}

function createDoor(
  hub: Hub,
  { mcp, session }: Omit<JsonRpcMount, "listener">,
  wants: McpOnHttp["wants"],
): JsonRpcHttpDoor {
  const dialects = createDialects(hub);
  const mcpDoor = new McpHttpDoor(mcp);
  return new JsonRpcHttpDoor({
    dialects,
    logger: hub.logger,
    mcp: {
      wants,
      take: (body, exchange) => mcpDoor.take(body, exchange, dialects),
      serve: (exchange) => mcpDoor.serve(exchange),
    },
    open: (principal) => openConversation(session, principal),
    modeOf: toolModeOfRequest,
  });
}

function openConversation(deps: SessionDeps, principal: Principal): Conversation {
  return new LegacySession(deps, { door: "jsonrpc", principal, outlet: NOBODY });
}

/** Between its requests nobody listens to such a caller. */
const NOBODY: ReplyOutlet = Object.freeze({ reply: () => {}, note: () => {}, reachable: false, isShared: false });

function isDialectBody(body: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return (
    messages.length > 0 &&
    messages.every(
      (message) => isJsonObject(message) && typeof message["method"] === "string" && isDialectMethod(message["method"]),
    )
  );
}
