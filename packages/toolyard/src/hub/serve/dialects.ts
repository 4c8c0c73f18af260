import type { Dialect } from "../../endpoints/dialect.ts";
import { JsonRpcDialect } from "../../endpoints/jsonrpc/json-rpc-dialect.ts";
import { describeServer } from "../builtin-ports.ts";
import type { Hub } from "../hub.ts";

/** What is spoken behind MCP, in order: a method goes to the first that knows it. */
export function createDialects(hub: Hub): readonly Dialect[] {
  return [new JsonRpcDialect({ hub, logger: hub.logger, describeServer: () => describeServer(hub) })];
}
