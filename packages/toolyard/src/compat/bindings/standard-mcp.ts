import { messageOf, OptionError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { READ_SEPARATORS } from "../../core/names/names.ts";
import { resolveStdioServer, StdioServerSchema, type StdioServerConfig } from "../../providers/stdio/options.ts";
import type { HubConfig } from "../../hub/schema.ts";
import { assertOptions, snakeKeys } from "../option-keys.ts";
import { withSeconds } from "../server-times.ts";
import type { SourceHubOptions } from "../source-hub.ts";
import type { DiscoverToolsOptions, ToolDefinition } from "./binding.ts";
import { HubBinding, type BindingProblem } from "./hub-binding.ts";
import { ignoredKeysMessage, readStdioEntry } from "./server-entry.ts";
import { checkServers } from "./usable-servers.ts";

/**
 * Settings of a server: `{command, cwd?, env?}`, and all other options of `[mcp.stdio_servers.<alias>]`. A time without
 * a unit is in seconds.
 */
export type StandardServer = StdioServerConfig;

export interface StandardMCPOptions {
  /** Servers by alias. An unusable server is omitted and listed in `diagnostics`. @default none */
  readonly initialServers?: Readonly<Record<string, StandardServer>> | null;
  readonly initial_servers?: Readonly<Record<string, StandardServer>> | null;
  /** Logger. @default standard error, from level warning */
  readonly logger?: Logger;
}

/**
 * A binding for MCP servers on stdio, each a child process. Their tools are called `alias::tool`. An unusable server
 * (invalid entry or unset variable) is listed in `diagnostics` and does not affect the others.
 */
export class StandardMCPBinding extends HubBinding {
  readonly #servers: Map<string, StandardServer>;
  readonly #entryProblems = new Map<string, string>();
  /** Servers that were excluded when the settings were last loaded. */
  #unusable: readonly BindingProblem[] = [];

  constructor(options: StandardMCPOptions | null = {}) {
    const { initial_servers: given = {}, logger } = snakeKeys(
      assertOptions("StandardMCPBinding", options, 'initial_servers: { calc: { command: ["python3", "calc.py"] } }'),
      ["initial_servers", "logger"],
    );
    assertServers("initial_servers", given);
    const servers = new Map<string, StandardServer>();
    const hub: Omit<SourceHubOptions, "endpoint"> = {
      settings: () => this.#settings(),
      ...(logger ? { logger: logger as Logger } : {}),
    };
    super("standard_mcp", { initial_servers: given, ...(logger ? { logger } : {}) }, hub);
    this.#servers = servers;
    for (const [alias, server] of Object.entries(given as Readonly<Record<string, unknown>>))
      this.#accept(alias, server);
  }

  override get diagnostics(): readonly BindingProblem[] {
    const entries = Array.from(this.#entryProblems, ([source, message]) => ({ source, message }));
    return [...entries, ...this.#unusable, ...super.diagnostics];
  }

  /** Aliases of the servers. */
  get servers(): readonly string[] {
    return [...this.#servers.keys()];
  }

  override async discoverTools(options: DiscoverToolsOptions = {}): Promise<readonly ToolDefinition[]> {
    const isForced = options?.force_refresh === true || options?.forceRefresh === true;
    // The settings are loaded again, because a missing variable may have been set since the last load.
    if (isForced && this.#unusable.length > 0) await this.hub.apply().catch(() => {});
    return super.discoverTools(options);
  }

  /**
   * Adds a server, or replaces the one with that alias. The next discovery lists its tools. Resolves with false if the
   * alias, the command or an option is invalid; `diagnostics` contains the reason.
   */
  async addServer(
    alias: string,
    command: string | readonly string[],
    options: Omit<StandardServer, "command"> = {},
  ): Promise<boolean> {
    const before = this.#servers.get(alias);
    if (!this.#accept(alias, { ...options, command })) return false;
    try {
      await this.hub.apply();
      const problem = this.#unusable.find(({ source }) => source === alias);
      if (!problem) return true;
      this.#entryProblems.set(alias, problem.message);
    } catch (error) {
      this.#entryProblems.set(alias, messageOf(error));
    }
    if (before) this.#servers.set(alias, before);
    else this.#servers.delete(alias);
    await this.hub.apply().catch(() => {});
    return false;
  }

  /** Removes a server and ends its process. Resolves after its exit, with false if no server has this alias. */
  async removeServer(alias: string): Promise<boolean> {
    this.#entryProblems.delete(alias);
    if (!this.#servers.delete(alias)) return false;
    await this.hub.apply();
    return true;
  }

  add_server(...args: Parameters<StandardMCPBinding["addServer"]>): Promise<boolean> {
    return this.addServer(...args);
  }
  remove_server(alias: string): Promise<boolean> {
    return this.removeServer(alias);
  }

  #accept(alias: string, given: unknown): boolean {
    try {
      assertAlias(alias);
      const { server, ignored } = readStdioEntry(given);
      assertServer(server);
      const settings = withSeconds(server, StdioServerSchema.properties);
      resolveStdioServer(settings);
      this.#servers.set(alias, settings);
      if (ignored.length > 0) this.#entryProblems.set(alias, ignoredKeysMessage(ignored));
      else this.#entryProblems.delete(alias);
      return true;
    } catch (error) {
      this.#entryProblems.set(String(alias), messageOf(error));
      return false;
    }
  }

  async #settings(): Promise<HubConfig> {
    const { usable, problems } = await checkServers(this.#servers, (alias, server) => toConfig([[alias, server]]));
    this.#unusable = problems;
    return toConfig(usable);
  }
}

function toConfig(servers: Iterable<readonly [string, StandardServer]>): HubConfig {
  const tables = Array.from(servers, ([alias, server]) => [alias, { ...server, start: "lazy" as const }] as const);
  return { mcp: { stdio_servers: Object.fromEntries(tables) } };
}

/** Throws an `OptionError` unless `servers` is an object of servers. */
export function assertServers(name: string, servers: unknown): void {
  if (isJsonObject(servers)) return;
  throw new OptionError(`\`${name}\` must be an object of alias and server, got ${JSON.stringify(servers)}.`);
}

const LISTS = ["args", "inherit_env"] as const;

function assertServer(server: Readonly<Record<string, unknown>>): void {
  const { command, cwd, env } = server;
  if (typeof command !== "string" && !isTexts(command))
    throw new OptionError(
      `\`command\` must be a list of texts, the program and its arguments, got ${JSON.stringify(command)}.`,
    );
  if (cwd !== undefined && typeof cwd !== "string")
    throw new OptionError(`\`cwd\` must be the path of a folder, got ${JSON.stringify(cwd)}.`);
  const isEnv = env === undefined || (isJsonObject(env) && Object.values(env).every(isText));
  // Values may be secrets, so the message omits them.
  if (!isEnv) throw new OptionError("`env` must be an object of names and texts.");
  const wrong = LISTS.find((name) => server[name] !== undefined && !isTexts(server[name]));
  if (wrong !== undefined)
    throw new OptionError(`\`${wrong}\` must be a list of texts, got ${JSON.stringify(server[wrong])}.`);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

export function assertAlias(alias: unknown): asserts alias is string {
  if (
    typeof alias === "string" &&
    alias.trim() !== "" &&
    !READ_SEPARATORS.some((separator) => alias.includes(separator))
  )
    return;
  throw new OptionError(
    `An alias must be a word without ${READ_SEPARATORS.map((separator) => `\`${separator}\``).join(", ")}, ` +
      `got ${JSON.stringify(alias)}.`,
  );
}
