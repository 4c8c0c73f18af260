import { relative } from "node:path";
import type { Call } from "../core/call.ts";
import type { JsonObject } from "../core/json.ts";
import type { Caller } from "../core/ports.ts";
import { isJsonObject } from "../core/json.ts";
import { VERSION } from "../core/version.ts";
import { resolveBuiltin } from "../providers/builtin/options.ts";
import type { BuiltinPorts, HubStatus, ModuleFacts } from "../providers/builtin/ports.ts";
import type { Hub } from "./hub.ts";
import type { HubConfig } from "./schema.ts";

/** What `mcp/discover` calls this protocol (G15). */
const DIALECT_VERSION = "1.0-gnn";

/** What the hub lends to its own tools. `hub` is asked late, since its own tools are part of what it is made of. */
export function createBuiltinPorts(hub: () => Hub, caller: Caller, logLines: (count: number) => readonly string[]): BuiltinPorts {
  return {
    caller,
    resolveName: (name, parent) => hub().nameOf(name, parent.principal),
    status: () => statusOf(hub()),
    capabilities: (parent) => capabilitiesOf(hub(), parent),
    module: (name) => loadedModules(hub()).find((module) => module.name === name),
    logLines,
  };
}

function statusOf(hub: Hub): HubStatus {
  const { tools, resources } = hub.counts();
  const { server } = hub.config.tree as HubConfig;
  const hasTokens = server?.token !== undefined || Object.keys(server?.tokens ?? {}).length > 0;
  return {
    serverName: "toolyard",
    serverVersion: VERSION,
    startedAt: hub.startedAt.getTime(),
    modules: loadedModules(hub).map(({ name }) => name),
    tools,
    resources,
    transports: [...hub.doors],
    authentication: hasTokens ? "bearer" : "none",
    encryption: "none",
  };
}

async function capabilitiesOf(hub: Hub, parent: Call): Promise<JsonObject> {
  const view = { mode: "all", principal: parent.principal } as const;
  const [tools, resources, templates] = await Promise.all([hub.list("tools", view), hub.list("resources", view), hub.list("templates", view)]);
  return {
    mcp_version: DIALECT_VERSION,
    server_description: resolveBuiltin((hub.config.tree as HubConfig).builtin).serverDescription,
    tools: tools.entries.map(({ name, description, inputSchema }) => ({ name, description: description ?? "", schema: inputSchema })),
    resources: [
      ...resources.entries.map(({ uri, description }) => ({ uri_template: uri, description: description ?? "" })),
      ...templates.entries.map(({ uriTemplate, description }) => ({ uri_template: uriTemplate, description: description ?? "" })),
    ],
  };
}

/** Modules as the modules source reports them in its status; paths count from the configuration's folder. */
function loadedModules(hub: Hub): ModuleFacts[] {
  const { folder } = hub.config;
  return hub.sources().flatMap(({ status }) => {
    const modules = isJsonObject(status.info?.["modules"]) ? status.info["modules"] : {};
    return Object.entries(modules).flatMap(([name, facts]) =>
      isJsonObject(facts) ? [{ name, path: relative(folder, String(facts["path"])), tools: facts["tools"] as readonly string[] }] : [],
    );
  });
}
