import { locateConfig } from "../config/locate.ts";
import { TASKS } from "../core/services.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { FileDraft } from "../core/ports/hub-control.ts";
import type { RemoteServerConfig } from "../providers/http/options.ts";
import type { RegisterTools } from "../providers/modules/api.ts";
import type { StdioServerConfig } from "../providers/stdio/options.ts";
import { LateLogger } from "../telemetry/late-logger.ts";
import { AddedServers } from "./added-servers.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { LoadedHubConfig } from "./schema.ts";
import { programTasks, type ProgramTasks } from "./library-tasks.ts";
import { LibraryEndpoints } from "./library-endpoints.ts";
import { loadHubConfig, openHub, type Hub } from "./open-hub.ts";
import { logConfig } from "./log-config.ts";
import { Reloader } from "./reload.ts";
import type { HubConfig } from "./schema.ts";
import type { ServedFetch } from "./serve/fetch.ts";
import type { NodeHandler } from "./serve/node.ts";
import type { ServedHub, ServedHttp } from "./serve/serve.ts";
import { getService } from "../kernel/start-features.ts";
import { toolyardOf, type Toolyard } from "../kernel/toolyard.ts";
import type { EnvironmentVariables } from "../core/environment-variables.ts";

export interface CreateHubOptions {
  /** Configuration files; later files have precedence. @default none */
  readonly config?: string | readonly string[];
  /** Options with the keys of `toolyard.toml`. They have precedence over files and environment. @default {} */
  readonly settings?: HubConfig;
  /**
   * Registers tools, resources and prompts of the program, like a module file. It may register more at any time.
   * @default none
   */
  readonly registerTools?: RegisterTools;
  /** Environment variables for `${VAR}` and `TOOLYARD_…`. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Logger of the program. @default a log to standard error by `[logging]` */
  readonly logger?: Logger;
  /** True to apply changes of the files while the hub is running. @default false */
  readonly watch?: boolean;
}

/**
 * Default settings. There is no rate limit, because the caller is the program itself; the configuration can set one.
 */
const BASE: JsonObject = { limits: { rate_per_minute: 0, in_flight: 0 } };

/**
 * Settings of one added server: `command` starts a child process, `url` or `host` connects to a server on HTTP. The
 * keys are those of `toolyard.toml`.
 */
export type ServerSettings = StdioServerConfig | RemoteServerConfig;

/**
 * Hub of a program: calls, lists, endpoints, and servers that the program adds. Dispose it, or call `close()`.
 *
 * @example
 *
 * ```ts
 * import { createHub } from "toolyard";
 *
 * const hub = await createHub({ settings: { server: { port: 0 } } });
 * await hub.addServer("files", { command: ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."] });
 * const { endpoint } = await hub.serve();
 * console.log(endpoint); // http://127.0.0.1:<port>/mcp
 * ```
 */
export interface LibraryHub extends Toolyard, ProgramTasks, AsyncDisposable {
  /** Returns the current configuration of all layers, including secrets. */
  config(): HubConfig;
  /**
   * Serves MCP on HTTP as configured in `[server]`. Closing the hub also closes the endpoint. Rejects with an
   * `OptionError` if the hub cannot listen.
   */
  serve(): Promise<ServedHttp>;
  /**
   * Serves the same as `serve`, but without a port, for frameworks and runtimes that pass a `Request`. Closing the hub
   * also closes the handler. Rejects with an `OptionError` if `[server]` is invalid.
   */
  serveFetch(): Promise<ServedFetch>;
  /**
   * Returns a handler that serves the same as `serve`, but without a port, with Node's request and response: for
   * Express, Fastify and `node:http`. Closing the hub also closes the handler. Throws an `OptionError` if `[server]` is
   * invalid.
   */
  nodeHandler(): NodeHandler;
  /**
   * Serves MCP on standard input and output. Until the hub is closed, only protocol messages are written to standard
   * output; other output goes to standard error. `done` resolves when the client has disconnected.
   */
  serveStdio(): ServedHub;
  /**
   * Adds an MCP server, or replaces the one with that name. The next list contains its tools. Rejects with a
   * `ConfigError` or `OptionError` if the settings are invalid, and then changes nothing.
   */
  addServer(alias: string, settings: ServerSettings): Promise<void>;
  /**
   * Removes a server that this program added. Resolves to true when the server has ended, and to false if there is none
   * with that name.
   */
  removeServer(alias: string): Promise<boolean>;
}

/**
 * Creates a hub for a program. Sources start in the background; the first list waits for them for a limited time.
 * Rejects with a `ConfigError` or `OptionError` if the configuration is invalid. `close()` ends everything that the hub
 * started.
 *
 * @example
 *
 * ```ts
 * import { createHub } from "toolyard";
 *
 * const hub = await createHub({ config: "toolyard.toml" });
 * const outcome = await hub.call("calculator", { expression: "6 * 7" });
 * console.log(outcome.ok ? outcome.result : `${outcome.kind}: ${outcome.message}`);
 * await hub.close();
 * ```
 */
export async function createHub(options: CreateHubOptions = {}): Promise<LibraryHub> {
  const { settings = {}, variables = process.env } = options;
  const files = filesOf(options.config, variables);
  const added = new AddedServers();
  const load = (draft?: FileDraft) =>
    loadHubConfig({ files, variables, base: BASE, flags: added.over(settings), ...(draft && { draft }) });
  const { hub, closeProgram } = await openWithProgram(await load(), variables, options);
  logConfig(hub.config, hub.logger);
  const endpoints = new LibraryEndpoints(hub);
  const reloader = new Reloader({ hub, load, onReloaded: async () => endpoints.reloaded() });
  const base = toolyardOf(hub, { endpoint: "library" });
  if (options.watch === true) await reloader.watch(files);
  const served = async <D>(endpoint: D): Promise<D> => {
    await reloader.reconsider();
    return endpoint;
  };
  const close = async (): Promise<void> => {
    await reloader.close();
    await endpoints.close();
    await base.close();
    await closeProgram();
  };
  return {
    ...base,
    ...programTasks(getService(hub.services, TASKS)),
    config: () => hub.config.tree,
    serve: async () => served(await endpoints.serve()),
    serveFetch: async () => served(await endpoints.serveFetch()),
    nodeHandler: () => {
      const handler = endpoints.nodeHandler();
      void reloader.reconsider();
      return handler;
    },
    serveStdio: () => endpoints.serveStdio(),
    addServer: async (alias, server) => {
      const undo = added.add(alias, server);
      try {
        await reloader.apply();
      } catch (error) {
        undo();
        throw error;
      }
    },
    removeServer: async (alias) => {
      if (!added.remove(alias)) return false;
      await reloader.apply();
      return true;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function filesOf(config: CreateHubOptions["config"] = [], variables: EnvironmentVariables): readonly string[] {
  const named = typeof config === "string" ? [config] : config;
  return named.length > 0 ? locateConfig(named, variables, process.cwd()) : [];
}

/** Opens the hub with the registrations of the program. */
async function openWithProgram(
  config: LoadedHubConfig,
  variables: EnvironmentVariables,
  { registerTools, logger }: CreateHubOptions,
): Promise<{ readonly hub: Hub; readonly closeProgram: () => Promise<void> }> {
  const program = registerTools ? await openProgram(registerTools) : undefined;
  const closeProgram = async (): Promise<void> => program?.host.own.close();
  try {
    const hub = await openHub({
      config,
      variables,
      ...(logger ? { logger } : {}),
      ...(program ? { modulesHost: program.host } : {}),
    });
    program?.log.bind(hub.logger);
    return { hub, closeProgram };
  } catch (error) {
    await closeProgram();
    throw error;
  }
}

/**
 * Creates the host of the program's registrations before the hub, so that the first list contains the registrations.
 * Log lines are kept until the hub's log exists.
 */
async function openProgram(registerTools: RegisterTools) {
  const { ModulesHost } = await import("../providers/modules/host.ts");
  const log = new LateLogger();
  const host = new ModulesHost(log);
  try {
    await registerTools(host.own.registrations.hub);
  } catch (error) {
    await host.own.close();
    throw error;
  }
  return { host, log };
}
