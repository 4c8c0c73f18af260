import { locateConfig } from "../config/locate.ts";
import type { JsonObject } from "../core/json.ts";
import { guardStdout } from "../process/stdout-guard.ts";
import type { RemoteServerConfig } from "../providers/http/options.ts";
import type { RegisterTools } from "../providers/modules/api.ts";
import type { StdioServerConfig } from "../providers/stdio/options.ts";
import { LateLogger } from "../telemetry/late-logger.ts";
import { AddedServers } from "./added-servers.ts";
import type { Logger } from "../core/ports.ts";
import { loadHubConfig, openHub, type Hub } from "./open-hub.ts";
import { logConfig } from "./log-config.ts";
import { Reloader } from "./reload.ts";
import type { HubConfig } from "./schema.ts";
import type { ServedFetch } from "./serve/fetch.ts";
import { nodeHandler, type NodeHandler } from "./serve/node.ts";
import { serveHttp, type Served, type ServedHttp } from "./serve/serve.ts";
import { serveStdio } from "./serve/serve-stdio.ts";
import { doorsOf, type ServerConfig } from "./serve/doors.ts";
import type { Toolyard } from "./toolyard.ts";

export interface CreateHubOptions {
  /** Configuration files, rising in precedence. @default none */
  readonly config?: string | readonly string[];
  /** Options in the keys of `toolyard.toml`; they win over files and environment. @default {} */
  readonly settings?: HubConfig;
  /**
   * Registers what the program offers itself, as the file of a module does; it may go on doing so while the hub runs.
   * @default none
   */
  readonly registerTools?: RegisterTools;
  /** Where `${VAR}` and `TOOLYARD_…` are looked up. @default process.env */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** @default as `[logging]` says, on standard error */
  readonly logger?: Logger;
  /** Takes changed files over while the hub runs. @default false */
  readonly watch?: boolean;
}

/** A program is no stranger: it may call as often as it likes, unless its configuration says otherwise. */
const BASE: JsonObject = { limits: { rate_per_minute: 0, in_flight: 0 } };

/** One server to add: `command` starts a child, `url` or `host` reaches one on HTTP. Keys as in `toolyard.toml`. */
export type ServerSettings = StdioServerConfig | RemoteServerConfig;

export interface LibraryHub extends Toolyard {
  /** The configuration as it stands now, all layers joined, secrets among it. */
  config(): HubConfig;
  /**
   * Serves MCP on HTTP as `[server]` says. Closing the hub closes it, too. Rejects with an `OptionError` when it cannot
   * listen.
   */
  serve(): Promise<ServedHttp>;
  /**
   * Serves what `serve` does without a port, for frameworks and runtimes that hand out a `Request`. Closing the hub
   * closes it, too. Rejects with an `OptionError` when `[server]` cannot be used.
   */
  serveFetch(): Promise<ServedFetch>;
  /**
   * Serves what `serve` does without a port, as a function from Node's request and response: for Express, Fastify and
   * `node:http`. Closing the hub closes it, too. Throws an `OptionError` when `[server]` cannot be used.
   */
  nodeHandler(): NodeHandler;
  /**
   * Serves MCP on standard input and output. Until the hub is closed, standard output belongs to the protocol: what
   * anybody else prints goes to standard error. `done` resolves when the client has gone.
   */
  serveStdio(): Served;
  /**
   * Adds an MCP server, or replaces the one of that name; the next list shows its tools. Rejects with a `ConfigError`
   * or `OptionError`, with everything as it was, when the settings cannot be used.
   */
  addServer(alias: string, settings: ServerSettings): Promise<void>;
  /** Takes a server out and ends it; resolves when it is gone. False: this program added none of that name. */
  removeServer(alias: string): Promise<boolean>;
}

/**
 * Makes a hub for a program. Sources start in the background; the first list waits for them a bounded time. Rejects
 * with a `ConfigError` or `OptionError` when the configuration cannot be used. `close()` ends everything that was
 * started.
 */
export async function createHub(options: CreateHubOptions = {}): Promise<LibraryHub> {
  const { settings = {}, variables = process.env, watch = false } = options;
  const named = typeof options.config === "string" ? [options.config] : (options.config ?? []);
  const files = named.length > 0 ? locateConfig(named, variables, process.cwd()) : [];
  const added = new AddedServers();
  const load = () => loadHubConfig({ files, variables, base: BASE, flags: added.over(settings) });
  const config = await load();
  const program = options.registerTools ? await openProgram(options.registerTools) : undefined;
  const hub = await openHub({
    config,
    variables,
    ...(options.logger ? { logger: options.logger } : {}),
    ...(program ? { modulesHost: program.host } : {}),
  }).catch(async (error: unknown) => {
    await program?.host.own.close();
    throw error;
  });
  program?.log.bind(hub.logger);
  logConfig(hub.config, hub.logger);
  const served: Served[] = [];
  let servedAs: string | undefined;
  const reloader = new Reloader({
    hub,
    load,
    // The address was handed out, so the program decides when its callers move.
    onReloaded: async () => {
      if (servedAs !== undefined && servedAs !== doorsOf(hub.config.tree)) hub.logger.warning(SERVER_CHANGED);
    },
  });
  const base = hub.toolyard({ door: "library" });
  if (watch) await reloader.watch(files);
  return {
    ...base,
    config: () => hub.config.tree,
    serve: async () => {
      const server = serverOf(hub);
      const one = await serveHttp(hub, server);
      servedAs = doorsOf(hub.config.tree);
      served.push(one);
      await reloader.reconsider();
      return one;
    },
    serveFetch: async () => {
      const { serveFetch } = await import("./serve/fetch.ts");
      const one = await serveFetch(hub, serverOf(hub));
      servedAs = doorsOf(hub.config.tree);
      served.push(one);
      await reloader.reconsider();
      return one;
    },
    nodeHandler: () => {
      const one = nodeHandler(hub, serverOf(hub));
      servedAs = doorsOf(hub.config.tree);
      served.push(one.served);
      void reloader.reconsider();
      return one.handler;
    },
    serveStdio: () => {
      const output = guardStdout();
      const door = serveStdio(hub, serverOf(hub), { input: process.stdin, output });
      const close: Served["close"] = (graceMs) => door.close(graceMs).finally(() => output.release());
      const one = { done: door.done, close };
      served.push(one);
      return one;
    },
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
    close: async () => {
      await reloader.close();
      await Promise.all(served.map((one) => one.close()));
      await base.close();
      await program?.host.own.close();
    },
  };
}

/**
 * What the program registers is there before the hub is, so that the first list has it. The log is not there yet; lines
 * wait for it.
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

const SERVER_CHANGED =
  "[server] or [rest] has changed, tokens and rights among it, and what is served goes on as it was. " +
  "Close it, then call `serve()` again.";

function serverOf(hub: Hub): ServerConfig {
  return hub.config.tree.server ?? {};
}
