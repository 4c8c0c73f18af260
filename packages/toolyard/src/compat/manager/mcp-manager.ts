import { Deadline, MAX_TIMER_MS } from "../../core/calls/deadline.ts";
import { FailError, messageOf, OptionError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { toolValue } from "../../core/calls/tool-value.ts";
import { orAborted } from "../../core/timing/wait.ts";
import { wholeLogger } from "../../telemetry/redacted-logger.ts";
import { MCPClient, type ToolDefinition } from "../client/mcp-client.ts";
import { assertObjects, assertOptions, parseSeconds, snakeKeys } from "../option-keys.ts";
import {
  DEFAULT_REGISTRY,
  RegistryNames,
  toEntry,
  TOOL_ALIASES,
  type RegistryEntry,
  type Registry,
  type RegistryLine,
} from "./registry.ts";

export interface ManagerOptions {
  /** Time limit of a call, including connecting and retries: seconds, or text such as `"500ms"`. @default 30 */
  readonly timeout?: number | string;
  /** Maximum number of attempts to reach a server within the time limit. @default 2 */
  readonly attempts?: number;
  /**
   * Pairs of names of the same tool, in addition to `TOOL_ALIASES`. The manager accepts each name of a pair for the
   * other. @default none
   */
  readonly aliases?: Readonly<Record<string, string>>;
  /**
   * Returns a client that is used instead of a connection to a server, for tests without a server. Called once for each
   * server, at its first use. @default an `MCPClient`
   */
  readonly client?: (line: ClientLine) => ManagerClient;
  /** Logger. @default standard error, from level warning */
  readonly logger?: Logger;
}

/** A line of the registry, with the tool for which it was registered and the server's URL. */
export type ClientLine = RegistryLine & { readonly tool: string; readonly url: string };

/**
 * The methods of a client that a manager uses. If `callTool` rejects, the manager reports the error as one of the
 * service.
 */
export interface ManagerClient {
  callTool(
    tool: string,
    args: JsonObject,
    options: { readonly signal: AbortSignal; readonly timeout: string },
  ): Promise<unknown>;
  /** Lists the tools. Absent: the tool's name in the registry is used. */
  listTools?(): Promise<readonly ToolDefinition[]>;
  start?(): Promise<void>;
  stop?(): Promise<void>;
}

export interface ManagedCallOptions {
  /** Time limit that overrides the manager's timeout. */
  readonly timeout?: number | string;
  readonly signal?: AbortSignal;
}

/** Result of a failed call. */
export interface ManagerError {
  readonly error: string;
}

const CLOSED = "This manager was closed. Create a new one.";

/**
 * One interface to tools on many MCP servers. A caller needs only a tool's name; the manager knows its server,
 * transport and retries. It connects to a server at first use. External failures do not throw.
 * @example
 * ```ts
 * import { MCPManager } from "toolyard/manager";
 *
 * await using manager = new MCPManager({ get_weather: { host: "127.0.0.1", port: 50051 } });
 * console.log(await manager.callTool("get_weather", { location: "Paris" }));
 * ```
 */
export class MCPManager implements AsyncDisposable {
  readonly #timeoutMs: number;
  readonly #attempts: number;
  readonly #aliases: Readonly<Record<string, string>>;
  readonly #logger: Logger | undefined;
  readonly #entries = new Map<string, RegistryEntry>();
  readonly #clients = new Map<string, ManagerClient>();
  readonly #createClient: ManagerOptions["client"];
  #names: RegistryNames | undefined;
  #isClosed = false;
  readonly call_tool: MCPManager["callTool"] = (...args: unknown[]) => this.#forward(args);
  /** Alias of `callTool`, with the method name of the specified orchestrator. */
  readonly executeTool: MCPManager["callTool"] = (...args: unknown[]) => this.#forward(args);
  readonly execute_tool: MCPManager["callTool"] = (...args: unknown[]) => this.#forward(args);

  /** Creates a manager. Throws an `OptionError` that names the invalid line or option. */
  constructor(registry: Registry = DEFAULT_REGISTRY, options: ManagerOptions = {}) {
    const {
      timeout = 30,
      attempts = 2,
      aliases = {},
      client,
      logger,
    } = snakeKeys(assertOptions("MCPManager", options, "timeout: 30, attempts: 2"), [
      "timeout",
      "attempts",
      "aliases",
      "client",
      "logger",
    ]) as ManagerOptions;
    if (client !== undefined && typeof client !== "function")
      throw new OptionError(`\`client\` must be a function that returns a client, got a ${typeof client}.`);
    this.#createClient = client;
    assertObjects({ registry, aliases });
    this.#timeoutMs = parseSeconds(timeout, "timeout");
    if (!Number.isInteger(attempts) || attempts < 1)
      throw new OptionError(`\`attempts\` must be a whole number above 0, got ${JSON.stringify(attempts)}.`);
    this.#attempts = attempts;
    this.#aliases = { ...TOOL_ALIASES, ...aliases };
    this.#logger = logger && wholeLogger(logger);
    for (const [tool, line] of Object.entries(registry)) this.register(tool, line);
  }

  /** Adds a line, or replaces the line of that tool. Throws an `OptionError` if it is invalid. */
  register(tool: string, line: RegistryLine): void {
    this.#entries.set(tool, toEntry(tool, line, this.#aliases));
    this.#names = undefined;
  }

  /**
   * Removes a line. Its connection is closed if no other line needs it. Resolves with false if there is no such line.
   */
  async unregister(tool: string): Promise<boolean> {
    const entry = this.#entries.get(tool);
    if (!entry) return false;
    this.#entries.delete(tool);
    this.#names = undefined;
    const key = connectionOf(entry);
    const isNeeded = [...this.#entries.values()].some((other) => connectionOf(other) === key);
    if (!isNeeded) await this.#release(key);
    return true;
  }

  /** Names of the tools, as registered. */
  get tools(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Returns the line for a name, or `undefined` for an unknown or ambiguous one. Sends no request. */
  resolve(
    name: string,
  ):
    | (RegistryLine & { readonly host: string; readonly port: number; readonly tool: string; readonly url: string })
    | undefined {
    const lookup = this.#find(name);
    if (!lookup.found) return undefined;
    const { token: _secret, ...line } = lookup.entry.line;
    return { ...line, tool: lookup.entry.toolNames[0]!, url: lookup.entry.endpoint };
  }

  /**
   * Calls a tool and resolves with its value, or `{error}`: `callTool("get_weather", {location})`,
   * `callTool("weather.get_weather", {location})`, or with the server first, `callTool("weather", "get_weather",
   * {location})`. Never rejects.
   */
  callTool(tool: string, args?: JsonObject, options?: ManagedCallOptions): Promise<unknown>;
  // oxlint-disable-next-line max-params -- A public signature: server and tool may be given apart.
  callTool(server: string, tool: string, args?: JsonObject, options?: ManagedCallOptions): Promise<unknown>;
  // oxlint-disable-next-line max-params -- A public signature: server and tool may be given apart.
  async callTool(
    first: string,
    second?: string | JsonObject,
    third?: JsonObject | ManagedCallOptions,
    fourth?: ManagedCallOptions,
  ): Promise<unknown> {
    const isQualified = typeof second === "string";
    const name: unknown = isQualified ? `${serverWord(String(first))}::${second}` : first;
    if (typeof name !== "string")
      return {
        error: `The tool must be given by name, got ${JSON.stringify(name) ?? "nothing"}.`,
      } satisfies ManagerError;
    const args = (isQualified ? third : second) ?? {};
    if (!isJsonObject(args)) return { error: `The arguments of ${name} must be an object.` } satisfies ManagerError;
    if (this.#isClosed) return { error: CLOSED } satisfies ManagerError;
    const lookup = this.#find(name);
    if (!lookup.found) return { error: lookup.message } satisfies ManagerError;
    try {
      return await this.#call(
        lookup.entry,
        args,
        (isQualified ? fourth : (third as ManagedCallOptions | undefined)) ?? {},
      );
    } catch (error) {
      return this.#toError(lookup.entry, error);
    }
  }

  /**
   * Returns the tools' definitions under their registered names. Unreachable servers are omitted. Rejects if the
   * manager is closed.
   */
  async listTools(options: ManagedCallOptions = {}): Promise<readonly ToolDefinition[]> {
    this.#assertOpen();
    const lists = await Promise.all(
      [...this.#entries.values()].map(async (entry) => {
        try {
          const definition = await this.#within(options, (signal) => this.#definition(entry, signal));
          return definition ? [{ ...definition, name: entry.tool }] : [];
        } catch (error) {
          this.#logger?.warning(`${entry.displayName} could not be listed.`, {
            tool: entry.tool,
            error: messageOf(error),
          });
          return [];
        }
      }),
    );
    return lists.flat();
  }

  /** Closes all connections permanently. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#clients.keys()].map((key) => this.#release(key)));
  }

  list_tools(options?: ManagedCallOptions): Promise<readonly ToolDefinition[]> {
    return this.listTools(options);
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #forward(args: readonly unknown[]): Promise<unknown> {
    return (this.callTool as (...all: unknown[]) => Promise<unknown>).apply(this, [...args]);
  }

  #find(name: string): ReturnType<RegistryNames["find"]> {
    this.#names ??= new RegistryNames(this.#entries);
    return this.#names.find(name);
  }

  #call(entry: RegistryEntry, args: JsonObject, options: ManagedCallOptions): Promise<unknown> {
    return this.#within(options, async (signal, remainingMs) => {
      const definition = await this.#definition(entry, signal);
      const client = this.#client(entry);
      const name = definition?.name ?? entry.toolNames[0]!;
      const timeout = `${Math.max(1, remainingMs())}ms`;
      return orAborted(Promise.resolve(client.callTool(name, args, { signal, timeout })), signal);
    });
  }

  /** Returns the tool's definition from its server's list, under any of its names. */
  async #definition(entry: RegistryEntry, signal: AbortSignal): Promise<ToolDefinition | undefined> {
    const client = this.#client(entry);
    await orAborted(Promise.resolve(client.start?.()), signal);
    const tools = (await orAborted(Promise.resolve(client.listTools?.()), signal)) ?? [];
    return entry.toolNames.map((name) => tools.find((tool) => tool.name === name)).find((tool) => tool !== undefined);
  }

  async #within<T>(
    { timeout, signal }: ManagedCallOptions,
    work: (signal: AbortSignal, remainingMs: () => number) => Promise<T>,
  ): Promise<T> {
    const totalMs = timeout === undefined ? this.#timeoutMs : parseSeconds(timeout, "timeout");
    const deadline = new Deadline({ idleMs: totalMs, totalMs }, undefined, signal);
    // Keeps the process running until the work has ended: neither the timer of the deadline nor an unconnected client
    // does.
    const keepAlive = setInterval(() => {}, MAX_TIMER_MS);
    try {
      return await work(deadline.signal, () => Math.ceil(deadline.remainingMs));
    } finally {
      clearInterval(keepAlive);
      deadline.clear();
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new FailError(fail("unavailable", CLOSED, { retryable: false }));
  }

  #client(entry: RegistryEntry): ManagerClient {
    // Checked again, because the manager may have been closed during the call.
    this.#assertOpen();
    const { endpoint, displayName, token } = entry;
    const key = connectionOf(entry);
    let client = this.#clients.get(key);
    if (!client && this.#createClient) {
      client = ownClient(this.#createClient({ ...entry.line, tool: entry.tool, url: endpoint }), entry.tool);
      this.#clients.set(key, client);
    }
    if (!client) {
      const logger = this.#logger?.with({ service: displayName });
      const settings = {
        connectAttempts: this.#attempts,
        connectTimeout: `${this.#timeoutMs}ms`,
        ...(logger ? { logger } : {}),
      };
      client = new MCPClient({ url: endpoint, start: "lazy", ...(token === undefined ? {} : { token }) }, {}, settings);
      this.#clients.set(key, client);
    }
    return client;
  }

  async #release(key: string): Promise<void> {
    const client = this.#clients.get(key);
    this.#clients.delete(key);
    await client?.stop?.();
  }

  #toError({ displayName, line, tool }: RegistryEntry, error: unknown): ManagerError {
    if (this.#isClosed) return { error: CLOSED };
    const failure = error instanceof FailError ? error.failure : undefined;
    this.#logger?.warning(`${displayName} returned no answer.`, {
      tool,
      kind: failure?.kind ?? "internal",
      error: messageOf(error),
    });
    if (error instanceof OptionError) return { error: error.message };
    if (failure && isAnswered(failure)) return { error: ownWords(failure.result) ?? withService(displayName, failure) };
    return { error: `${displayName} unavailable on port ${line.port}` };
  }
}

/**
 * Returns false if the failure means that the service did not answer. Returns true for failures that the service
 * reported, and for failures with other causes.
 */
export function isAnswered({ kind, result, rpcError }: Fail): boolean {
  return result !== undefined || rpcError !== undefined || !KINDS[kind].unanswered;
}

/** Returns the error message of a service that reports failures in its result. */
function ownWords(result: JsonObject | undefined): string | undefined {
  const value = result === undefined ? undefined : toolValue(result);
  return isJsonObject(value) && typeof value["error"] === "string" ? value["error"] : undefined;
}

/**
 * Adds the service's name to the message about a rate limit (HTTP 429), because the limit is the service's. Other
 * messages stay unchanged.
 */
function withService(displayName: string, { kind, message }: Fail): string {
  return kind === "limited" && !message.includes(displayName) ? `${displayName}: ${message}` : message;
}

function ownClient(client: unknown, tool: string): ManagerClient {
  if (isJsonObject(client) && typeof client["callTool"] === "function") return client as unknown as ManagerClient;
  throw new OptionError(`The client of ${tool} has no method \`callTool\`.`);
}

/** Returns the key of a line's connection. Lines with the same key share a connection. */
function connectionOf({ endpoint, token = "" }: RegistryEntry): string {
  return `${endpoint} ${token}`;
}

/** Returns the normalised name of a server: `Weather MCP`, `weather-mcp` and `weather` are the same server. */
function serverWord(server: string): string {
  return server
    .replace(/(?<!\s)\s+MCP$/i, "")
    .trim()
    .replaceAll(/\s+/g, "-")
    .toLowerCase();
}
