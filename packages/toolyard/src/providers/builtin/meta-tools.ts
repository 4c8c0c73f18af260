import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import { META_ALIASES } from "../../core/names/own-names.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import type { Source } from "../../core/sources/records.ts";
import type { FixedTool } from "../fixed-tools.ts";
import type { BuiltinOptions } from "./options.ts";
import { objectResult, ownToolRecord, textResult, type OwnToolFacts } from "./own-tool.ts";
import type { BuiltinPorts, HubStatus } from "./ports.ts";

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };
const MAX_SAMPLE = 5;

interface MetaPorts extends BuiltinPorts {
  /** Returns the current time in milliseconds since 1970. */
  now(): number;
}

/** Creates `meta.*`, the tools about the hub itself. */
export function metaTools(source: Source, ports: MetaPorts, options: BuiltinOptions): FixedTool[] {
  const make: Make = (facts, run) => metaTool(source, { visibility: options.metaVisibility, ...facts }, run);
  const tools = [serverStatus(make, ports), fullCapabilities(make, ports), moduleInfo(make, ports), ping(make)];
  return options.serverLogs ? [...tools, serverLogs(make, ports, options.serverLogLines)] : tools;
}

type MetaFacts = Pick<OwnToolFacts, "title" | "description"> &
  Partial<OwnToolFacts> & { readonly name: keyof typeof META_ALIASES };
type Make = (facts: MetaFacts, run: FixedTool["run"]) => FixedTool;

function metaTool(source: Source, facts: MetaFacts, run: FixedTool["run"]): FixedTool {
  const record = ownToolRecord(source, {
    inputSchema: NO_PARAMETERS,
    annotations: { readOnlyHint: true, openWorldHint: false },
    role: "meta",
    hiddenNames: META_ALIASES[facts.name],
    ...facts,
  });
  return { record, run };
}

function serverStatus(make: Make, ports: MetaPorts): FixedTool {
  return make(
    {
      name: "meta.get_server_status",
      title: "Server status",
      description: "Returns the current operational status and basic statistics of the MCP server.",
      keywords: ["uptime", "health", "version"],
    },
    (call) => {
      const unready = ports.unreadyServers(call);
      const status = statusOf(ports.status(call), ports.now());
      return objectResult(unready.length === 0 ? status : { ...status, servers_not_ready: unready });
    },
  );
}

function statusOf(status: HubStatus, now: number): JsonObject {
  const uptime = Math.max(0, now - status.startedAt) / 1000;
  return {
    status: "running",
    uptime_seconds: Math.round(uptime * 1000) / 1000,
    uptime_formatted: formatUptime(Math.floor(uptime)),
    start_time_unix: status.startedAt / 1000,
    server_name: status.serverName,
    server_version: status.serverVersion,
    discovered_modules_count: status.modules.length,
    loaded_modules: status.modules,
    registered_tools_count: status.tools,
    registered_resources_count: status.resources,
    transports: status.transports,
    authentication: status.authentication,
    encryption: status.encryption,
  };
}

function formatUptime(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
  return days > 0 ? `${days}d ${clock}` : clock;
}

function fullCapabilities(make: Make, ports: BuiltinPorts): FixedTool {
  return make(
    {
      name: "meta.get_full_capabilities",
      title: "Full capabilities",
      description: "Returns all registered tools and resources with their schemas, like the method `mcp/discover`.",
    },
    async (call) => objectResult(await ports.capabilities(call)),
  );
}

function moduleInfo(make: Make, ports: BuiltinPorts): FixedTool {
  return make(
    {
      name: "meta.get_module_info",
      title: "Module info",
      description: "Provides information about a specific discovered MCP module.",
      inputSchema: {
        type: "object",
        properties: {
          module_name: {
            type: "string",
            description: "The fully qualified name of the discovered module (e.g., src.export.mcp).",
          },
        },
        required: ["module_name"],
      },
    },
    (call) => describeModule(call, ports),
  );
}

function describeModule(call: ResolvedCall, ports: BuiltinPorts): Outcome {
  const name = String(call.arguments["module_name"]);
  const facts = ports.module(name, call);
  if (!facts) return fail("tool_error", `Module '${name}' not found or not loaded.`);
  return objectResult({
    module_name: facts.name,
    status: "loaded",
    path: facts.path,
    provided_tools_sample: facts.tools.slice(0, MAX_SAMPLE),
  });
}

function ping(make: Make): FixedTool {
  const facts = {
    name: "meta.ping",
    title: "Ping",
    description: "Returns pong, to check that the MCP server responds.",
  } as const;
  return make(facts, () => textResult("pong"));
}

function serverLogs(make: Make, ports: BuiltinPorts, maxLines: number): FixedTool {
  return make(
    {
      name: "meta.get_server_logs",
      title: "Server logs",
      description: "Returns the most recent log lines of the MCP server, oldest first, with secrets redacted.",
      inputSchema: {
        type: "object",
        properties: {
          lines: {
            type: "integer",
            description: "Number of lines.",
            minimum: 1,
            maximum: maxLines,
            default: Math.min(50, maxLines),
          },
        },
      },
    },
    (call) => {
      const { lines } = call.arguments;
      return objectResult({
        lines: ports.logLines(typeof lines === "number" ? Math.min(lines, maxLines) : Math.min(50, maxLines), call),
      });
    },
  );
}
