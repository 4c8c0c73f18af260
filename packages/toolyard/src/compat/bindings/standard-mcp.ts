import { messageOf, OptionError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { READ_SEPARATORS } from "../../core/names/names.ts";
import { resolveStdioServer, StdioServerSchema, type StdioServerConfig } from "../../providers/stdio/options.ts";
import { assertOptions, snakeKeys } from "../option-keys.ts";
import { withSeconds } from "../server-times.ts";
import type { SourceHubOptions } from "../source-hub.ts";
import { HubBinding, type BindingProblem } from "./hub-binding.ts";

/**
 * `{command, cwd?, env?}`, and whatever `[mcp.stdio_servers.<alias>]` takes beside them; a bare number of a time counts
 * seconds.
 */
export type StandardServer = StdioServerConfig;

export interface StandardMCPOptions {
  /** Servers by alias. One that cannot be used is left out and stands in `diagnostics`. @default none */
  readonly initialServers?: Readonly<Record<string, StandardServer>>;
  readonly initial_servers?: Readonly<Record<string, StandardServer>>;
  /** @default standard error, from warnings on */
  readonly logger?: Logger;
}

/** MCP servers on stdio, each a child. Their tools are called `alias::tool`. */
export class StandardMCPBinding extends HubBinding {
  readonly #servers: Map<string, StandardServer>;
  readonly #refused: readonly BindingProblem[];

  constructor(options: StandardMCPOptions = {}) {
    const { initial_servers: given = {}, logger } = snakeKeys(
      assertOptions("StandardMCPBinding", options, 'initial_servers: { calc: { command: ["python3", "calc.py"] } }'),
      ["initial_servers", "logger"],
    );
    assertServers("initial_servers", given);
    const servers = new Map<string, StandardServer>();
    const hub: Omit<SourceHubOptions, "endpoint"> = {
      settings: () => ({
        mcp: {
          stdio_servers: Object.fromEntries(
            Array.from(servers, ([alias, server]) => [alias, { ...server, start: "lazy" as const }]),
          ),
        },
      }),
      ...(logger ? { logger: logger as Logger } : {}),
    };
    super("standard_mcp", { initial_servers: given }, hub);
    this.#servers = servers;
    this.#refused = Object.entries(given as Readonly<Record<string, StandardServer>>).flatMap(
      ([alias, server]) => this.#accept(alias, server) ?? [],
    );
  }

  override get diagnostics(): readonly BindingProblem[] {
    return [...this.#refused, ...super.diagnostics];
  }

  /** Aliases of the servers. */
  get servers(): readonly string[] {
    return [...this.#servers.keys()];
  }

  /**
   * Adds a server, or replaces the one of that alias; the next discovery shows its tools. False: the alias or command
   * cannot be used.
   */
  async addServer(
    alias: string,
    command: string | readonly string[],
    options: Omit<StandardServer, "command"> = {},
  ): Promise<boolean> {
    const before = this.#servers.get(alias);
    if (this.#accept(alias, { ...options, command: typeof command === "string" ? command : [...command] }))
      return false;
    try {
      await this.hub.apply();
      return true;
    } catch {
      if (before) this.#servers.set(alias, before);
      else this.#servers.delete(alias);
      return false;
    }
  }

  /** Takes a server out and ends it; resolves when its process is gone. False: there is none of that alias. */
  async removeServer(alias: string): Promise<boolean> {
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

  #accept(alias: string, server: StandardServer): BindingProblem | undefined {
    try {
      assertAlias(alias);
      assertServer(server);
      const settings = withSeconds(server, StdioServerSchema.properties);
      resolveStdioServer(settings);
      this.#servers.set(alias, settings);
      return undefined;
    } catch (error) {
      return { source: alias, message: messageOf(error) };
    }
  }
}

/** Throws an `OptionError` unless it is an object with a server each. */
export function assertServers(name: string, servers: unknown): void {
  if (isJsonObject(servers)) return;
  throw new OptionError(`\`${name}\` must be an object of alias and server, got ${JSON.stringify(servers)}.`);
}

const LISTS = ["args", "inherit_env"] as const;

function assertServer(server: unknown): asserts server is StandardServer {
  if (!isJsonObject(server))
    throw new OptionError(
      `A server must be an object such as {command: ["python3", "server.py"]}, got ${JSON.stringify(server)}.`,
    );
  const { command, cwd, env } = server;
  if (typeof command !== "string" && !isTexts(command))
    throw new OptionError(
      `\`command\` must be a list of texts, the program and its arguments, got ${JSON.stringify(command)}.`,
    );
  if (cwd !== undefined && typeof cwd !== "string")
    throw new OptionError(`\`cwd\` must be the path of a folder, got ${JSON.stringify(cwd)}.`);
  const isEnv = env === undefined || (isJsonObject(env) && Object.values(env).every(isText));
  // Its values may be secrets.
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
