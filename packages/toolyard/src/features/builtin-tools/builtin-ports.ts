import { relative } from "node:path";
import type { Call } from "../../core/calls/call.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { permissionOf } from "../../core/ports/rights.ts";
import type { ServicesOf } from "../../core/service-key.ts";
import type { ACCESS_PLAN, GET_HUB, INNER_HUB, LOG_LINES, MadeHub, REDACT, STARTED_AT } from "../../core/services.ts";
import { VERSION } from "../../core/version.ts";
import { resolveBuiltin, type BuiltinConfig } from "../../providers/builtin/options.ts";
import type { BuiltinPorts, HubStatus, ModuleFacts } from "../../providers/builtin/ports.ts";
import type { SANDBOX } from "../../sandbox/service.ts";

/** Sections of the configuration that the builtin tools read. */
export interface BuiltinToolsSections {
  readonly builtin?: BuiltinConfig;
  readonly server?: { readonly tls?: object };
}

type BuiltinServices = ServicesOf<
  | typeof GET_HUB
  | typeof INNER_HUB
  | typeof SANDBOX
  | typeof LOG_LINES
  | typeof ACCESS_PLAN
  | typeof STARTED_AT
  | typeof REDACT
>;

/**
 * Creates the services for the hub's own tools. The hub is created after these tools, so the services look up the hub
 * when a tool is called.
 */
export function createBuiltinPorts(parts: BuiltinServices, config: () => BuiltinToolsSections): BuiltinPorts {
  const { getHub, innerHub, sandbox, logLines, redact } = parts;
  return {
    innerHub,
    resolveName: (name, parent) => getHub().tools.nameOf(name, parent.principal),
    unreadyServers: ({ principal }) => getHub().tools.unreadyServers(principal).map(redact),
    status: (parent) => statusOf(parts, config(), parent),
    capabilities: async ({ principal }) => {
      const { readCapabilities } = await import("../../endpoints/jsonrpc/capabilities.ts");
      const { serverDescription } = resolveBuiltin(config().builtin);
      return readCapabilities(getHub().port, { mode: "all", principal }, serverDescription);
    },
    module: (name, parent) => moduleFor(getHub(), name, parent),
    code: { sandbox },
    logLines: (count, { principal }) =>
      logLines(count, permissionOf(principal.rights).isNarrowed ? principal.id : undefined),
  };
}

function statusOf(
  { getHub, accessPlan, startedAt }: BuiltinServices,
  { server }: BuiltinToolsSections,
  parent: Call,
): HubStatus {
  const hub = getHub();
  const { resources } = hub.tools.counts(parent.principal);
  const { mode } = accessPlan();
  return {
    serverName: "toolyard",
    serverVersion: VERSION,
    startedAt: startedAt.getTime(),
    modules: loadedModules(hub).flatMap(({ name }) => moduleFor(hub, name, parent)?.name ?? []),
    // The same number as in `registeredTools` of the capabilities (G71).
    tools: hub.tools.registeredTools(parent.principal),
    resources,
    transports: hub.endpoints.kinds,
    authentication: mode === "open" ? "none" : mode,
    encryption: server?.tls !== undefined && hub.endpoints.kinds.includes("http") ? "tls" : "none",
  };
}

function moduleFor(hub: MadeHub, name: string, { principal }: Call): ModuleFacts | undefined {
  const found = loadedModules(hub).find((module) => module.name === name);
  if (!found || !permissionOf(principal.rights).isNarrowed) return found;
  const tools = found.tools.filter((tool) => hub.tools.nameOf(tool, principal) !== undefined);
  return tools.length > 0 ? { ...found, tools } : undefined;
}

/**
 * Returns the loaded modules that the modules source reports in its status. Paths are relative to the configuration's
 * folder.
 */
function loadedModules({ port, folder }: MadeHub): ModuleFacts[] {
  return port.sources().flatMap(({ status }) => {
    const modules = isJsonObject(status.info?.["modules"]) ? status.info["modules"] : {};
    return Object.entries(modules).flatMap(([name, facts]) =>
      isJsonObject(facts)
        ? [{ name, path: relative(folder, String(facts["path"])), tools: facts["tools"] as readonly string[] }]
        : [],
    );
  });
}
