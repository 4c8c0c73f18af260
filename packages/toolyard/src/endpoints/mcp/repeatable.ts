import { objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import type { HubPort } from "../../core/ports/hub-port.ts";
import type { Principal } from "../../core/calls/call.ts";
import type { RpcRequest } from "../../wire/messages.ts";

/** Methods that change nothing outside the hub, or have the same effect when they are repeated. */
const REPEATABLE: ReadonlySet<string> = new Set([
  "completion/complete",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "server/discover",
  "tools/list",
]);

/** Returns true if a request that may have been executed can be executed again. */
export async function isRepeatable(
  { method, params = {} }: Pick<RpcRequest, "method" | "params">,
  hub: Pick<HubPort, "list">,
  principal: Principal,
): Promise<boolean> {
  if (method !== "tools/call") return REPEATABLE.has(method);
  // A repetition would create a second task.
  if (Object.hasOwn(params, "task")) return false;
  const name = stringMember(params, "name");
  const { entries } = await hub.list("tools", { mode: "all", principal });
  const tool = entries.find((entry) => entry["name"] === name);
  return tool !== undefined && isIdempotentTool(tool);
}

function isIdempotentTool(tool: JsonObject): boolean {
  const annotations = objectMember(tool, "annotations");
  return annotations?.["readOnlyHint"] === true || annotations?.["idempotentHint"] === true;
}
