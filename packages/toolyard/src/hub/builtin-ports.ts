import { relative } from "node:path";
import type { InnerHub } from "../core/calls/inner-hub.ts";
import { isJsonObject } from "../core/json/json.ts";
import { permissionOf } from "../core/ports/rights.ts";
import { VERSION } from "../core/version.ts";
import { CORE_DESCRIPTION, resolveBuiltin } from "../providers/builtin/options.ts";
import type { Call } from "../core/calls/call.ts";
import type { BuiltinPorts, HubStatus, ModuleFacts } from "../providers/builtin/ports.ts";
import type { Hub } from "./hub.ts";
import type { LiveSandbox } from "./live/sandbox.ts";

interface BuiltinParts {
  readonly innerHub: InnerHub;
  readonly sandbox: LiveSandbox;
  readonly logLines: (count: number, principal?: string) => readonly string[];
}

/** What the hub lends to its own tools. `hub` is asked late, since its own tools are part of what it is made of. */
export function createBuiltinPorts(hub: () => Hub, { innerHub, sandbox, logLines }: BuiltinParts): BuiltinPorts {
  return {
    innerHub,
    resolveName: (name, parent) => hub().nameOf(name, parent.principal),
    status: (parent) => statusOf(hub(), parent),
    capabilities: async ({ principal }) => {
      const { readCapabilities } = await import("../endpoints/jsonrpc/capabilities.ts");
      const { serverDescription } = resolveBuiltin(hub().config.tree.builtin);
      return readCapabilities(hub(), { mode: "all", principal }, serverDescription);
    },
    module: (name, parent) => moduleFor(hub(), name, parent),
    code: { sandbox: () => sandbox.current() },
    logLines: (count, { principal }) =>
      logLines(count, permissionOf(principal.rights).isNarrowed ? principal.id : undefined),
  };
}

function statusOf(hub: Hub, parent: Call): HubStatus {
  const { resources } = hub.counts(parent.principal);
  const { server } = hub.config.tree;
  const hasTokens = server?.token !== undefined || Object.keys(server?.tokens ?? {}).length > 0;
  return {
    serverName: "toolyard",
    serverVersion: VERSION,
    startedAt: hub.startedAt.getTime(),
    modules: loadedModules(hub).flatMap(({ name }) => moduleFor(hub, name, parent)?.name ?? []),
    // As many as the registry and the capabilities name (G71).
    tools: hub.registeredTools(parent.principal),
    resources,
    transports: hub.doors.kinds,
    authentication: hasTokens ? "bearer" : "none",
    encryption: server?.tls !== undefined && hub.doors.kinds.includes("http") ? "tls" : "none",
  };
}

/** What the core dialect says of the hub, as its configuration stands now. */
export function describeServer(hub: Hub): string {
  return hub.config.tree.builtin?.server_description ?? CORE_DESCRIPTION;
}

function moduleFor(hub: Hub, name: string, { principal }: Call): ModuleFacts | undefined {
  const found = loadedModules(hub).find((module) => module.name === name);
  if (!found || !permissionOf(principal.rights).isNarrowed) return found;
  const tools = found.tools.filter((tool) => hub.nameOf(tool, principal) !== undefined);
  return tools.length > 0 ? { ...found, tools } : undefined;
}

/** Modules as the modules source reports them in its status; paths count from the configuration's folder. */
function loadedModules(hub: Hub): ModuleFacts[] {
  const { folder } = hub.config;
  return hub.sources().flatMap(({ status }) => {
    const modules = isJsonObject(status.info?.["modules"]) ? status.info["modules"] : {};
    return Object.entries(modules).flatMap(([name, facts]) =>
      isJsonObject(facts)
        ? [{ name, path: relative(folder, String(facts["path"])), tools: facts["tools"] as readonly string[] }]
        : [],
    );
  });
}
