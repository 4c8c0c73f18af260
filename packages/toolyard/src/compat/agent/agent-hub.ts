import type { AgentHub } from "../../agent/agent-hub.ts";
import { FailError, messageOf, OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { createHub, type ServerSettings } from "../../hub/create-hub.ts";
import type { HubConfig } from "../../hub/schema.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import { withoutSources } from "../source-hub.ts";
import type { ToolDefinition } from "../client/mcp-client.ts";

/** Object that lists tools and calls them by name: `MCPClient`, `MCPManager`, or a class of the program. */
export interface ToolCaller {
  listTools(): Promise<readonly ToolDefinition[]>;
  callTool(tool: string, args?: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
}

export type HubChoice = Toolyard | ToolCaller | ServerSettings | string | URL;

export interface OpenedHub {
  readonly open: () => Promise<AgentHub>;
  readonly close: () => Promise<void>;
  readonly isAlwaysJson?: boolean;
}

/**
 * Creates the agent's source of tools from a hub, URL, settings or client. `close` closes what this function opened.
 */
export function toAgentHub(hub: HubChoice, logger?: Logger): OpenedHub {
  if (typeof hub === "string" || hub instanceof URL) return serverHub({ url: String(hub) }, logger);
  const face: unknown = hub;
  if (!isJsonObject(face))
    throw new OptionError(
      "`hub` must be a hub, the URL or the settings of an MCP server, or a client with `listTools` and `callTool`.",
    );
  if ("port" in face && typeof face["list"] === "function") return given(hub as unknown as Toolyard);
  if (typeof face["listTools"] === "function" && typeof face["callTool"] === "function")
    return { ...given(callerHub(hub as unknown as ToolCaller)), isAlwaysJson: true };
  return serverHub(hub as ServerSettings, logger);
}

function given(hub: AgentHub): OpenedHub {
  return { open: () => Promise.resolve(hub), close: () => Promise.resolve() };
}

/** Wraps a client of the program, which starts and stops it. */
export function callerHub(client: ToolCaller): AgentHub {
  return {
    list: async ({ mode }) =>
      mode === "discovery"
        ? []
        : (await client.listTools()).map(({ input_schema: inputSchema, ...rest }) => ({ ...rest, inputSchema })),
    call: (tool, args, { signal }) => callOutcome(() => client.callTool(tool, args, { signal })),
  };
}

async function callOutcome(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    const value = await call();
    const words = isJsonObject(value) && typeof value["error"] === "string" ? value["error"] : undefined;
    const result = { content: [], structuredContent: value ?? null };
    // A manager returns a failure as `{error}`; the model receives that object.
    return words === undefined ? ok(result) : fail("tool_error", words, { result });
  } catch (error) {
    return error instanceof FailError ? error.failure : fail("internal", messageOf(error), { cause: error });
  }
}

/** Opens a hub whose only source is the given MCP server, so that discovery works with any server. */
function serverHub(server: ServerSettings, logger: Logger | undefined): OpenedHub {
  let opening: ReturnType<typeof openServer> | undefined;
  return {
    open: () => {
      opening ??= openServer(server, logger).catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    close: async () => {
      const hub = await opening?.catch(() => undefined);
      opening = undefined;
      await hub?.close();
    },
  };
}

const ALIAS = "server";

async function openServer(server: ServerSettings, logger: Logger | undefined): Promise<Toolyard> {
  const entry = { ...server, namespace: "" };
  const mcp: HubConfig["mcp"] =
    "command" in entry
      ? { stdio_servers: { [ALIAS]: entry } }
      : // If the server is a hub, it lists its on-demand tools instead of discovery tools: this hub has its own.
        { remote_servers: [{ alias: ALIAS, ...entry, headers: { "X-MCP-Tool-Mode": "all", ...entry.headers } }] };
  const settings: HubConfig = {
    mcp,
    builtin: { meta_tools: false, execute_code: false },
    logging: { level: "warning" },
    catalog: { max_name_chars: 128 },
  };
  const hub = await createHub({ settings, variables: withoutSources(process.env), ...(logger ? { logger } : {}) });
  try {
    await hub.list({ mode: "all" });
    const { state, lastError } = hub.sources().find(({ source }) => source.id === ALIAS)!.status;
    if (state !== "ready" && state !== "degraded")
      throw new FailError(fail("unavailable", `The MCP server cannot be reached. ${lastError ?? ""}`.trim()));
    return hub;
  } catch (error) {
    await hub.close();
    throw error;
  }
}
