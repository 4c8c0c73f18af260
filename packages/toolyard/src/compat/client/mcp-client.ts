import type { CallNotification } from "../../core/calls/call.ts";
import { FailError, OptionError } from "../../core/errors.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import { fail } from "../../core/calls/outcome.ts";
import { toolValue } from "../../core/calls/tool-value.ts";
import type { HubConfig } from "../../hub/schema.ts";
import type { CallOptions } from "../../kernel/toolyard.ts";
import { parseSeconds } from "../option-keys.ts";
import { SourceHub } from "../source-hub.ts";
import { resolveClient, type ClientServer, type ClientSettings, type ResolvedClient } from "./client-options.ts";
import { firstChars } from "../../core/text/truncate.ts";

export interface ToolDefinition {
  /** Name as defined by the server. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly input_schema: JsonObject;
  readonly output_schema?: JsonObject;
}

/** Options of one call. */
export interface CallToolOptions {
  /**
   * Time limit of the whole call: seconds, or text such as `"10m"`. @default the client's `timeout`, which progress
   * resets
   */
  readonly timeout?: number | string;
  /** Signal that cancels the call and notifies the server. */
  readonly signal?: AbortSignal;
  /** Called with progress and log messages of the running call. */
  readonly onNotice?: (notification: CallNotification) => void;
}

const STOPPED = fail("unavailable", "The client was stopped while it started.", { retryable: false });
const MAX_LINE_CHARS = 500;
/** Internal alias of the only server. */
const ALIAS = "server";

/**
 * A client of one MCP server, for any revision and any transport. Every external failure rejects with a `FailError`
 * with its code in `failure.kind`.
 * @example
 * ```ts
 * import { MCPClient } from "toolyard/client";
 *
 * const client = new MCPClient("server.mjs", { MISTRAL_API_KEY: process.env.MISTRAL_API_KEY ?? "" });
 * await client.start();
 * for (const tool of await client.listTools()) console.log(tool.name);
 * console.log(await client.callTool("search_chunks", { query: "What is nominalism?" }));
 * await client.stop();
 * ```
 */
export class MCPClient implements AsyncDisposable {
  readonly #options: ResolvedClient;
  #hub: SourceHub | undefined;
  #starting: Promise<SourceHub> | undefined;
  /** Cancels a start. */
  #stopping = new AbortController();
  /** Request ids, which continue after a restart. */
  readonly #requestIds = { last: 0 };
  /** Last stderr lines of the server, kept after its exit. */
  #lastStderr: readonly string[] = [];

  /**
   * @param server Path of a server's script (`.py`, `.ts`, `.js`, or a program), a URL (`http://…`), or settings with
   * `command` or `url`.
   * @param env Variables of the child process. A script given by path inherits the whole environment of this program,
   * overridden by these variables. A server given by settings gets these variables and the few that every child gets,
   * such as PATH and HOME. Undefined and null values are omitted.
   * @throws OptionError for invalid settings
   */
  constructor(
    server: string | URL | ClientServer,
    env: Readonly<Record<string, string | null | undefined>> | null = {},
    settings: ClientSettings = {},
  ) {
    this.#options = resolveClient(server, env ?? {}, settings);
  }

  /**
   * Starts the server, or connects to it, and reads its tools. Repeated calls have no effect; a failed start can be
   * repeated.
   */
  async start(): Promise<void> {
    await this.#start();
  }

  /** Stops the server, or closes the connection. Resolves after it has ended. Does nothing if it was not started. */
  async stop(): Promise<void> {
    const [hub, starting] = [this.#hub, this.#starting];
    this.#hub = undefined;
    this.#starting = undefined;
    this.#stopping.abort();
    this.#stopping = new AbortController();
    this.#keepStderr(hub);
    await hub?.close();
    this.#keepStderr(hub);
    await starting?.catch(() => {});
  }

  /** Returns all tools of the server, from all pages. */
  async listTools(): Promise<readonly ToolDefinition[]> {
    const hub = await this.#started();
    const { tools, failures } = await hub.discover({
      surface: "mcp",
      force: false,
      timeoutMs: this.#options.connectTimeoutMs,
    });
    const [failure] = failures.values();
    if (failure) throw new FailError(failure);
    return tools.map(({ record, entry }) => {
      const outputSchema = objectMember(entry, "outputSchema");
      const inputSchema = objectMember(entry, "inputSchema") ?? { type: "object" };
      return {
        name: record.name,
        description: record.description,
        input_schema: inputSchema,
        ...(outputSchema ? { output_schema: outputSchema } : {}),
      };
    });
  }

  /**
   * Calls a tool and returns its plain value: structured content if present, else text parsed as JSON, or other text
   * unchanged. Several items result in a list; an image, audio or resource in its object.
   */
  async callTool(toolName: string, args: JsonObject = {}, options: CallToolOptions = {}): Promise<unknown> {
    return toolValue(await this.callToolRaw(toolName, args, options));
  }

  /** Like `callTool`, with the server's original result: `{content, structuredContent?, …}`. */
  async callToolRaw(toolName: string, args: JsonObject = {}, options: CallToolOptions = {}): Promise<JsonObject> {
    if (!isJsonObject(args)) throw new OptionError("A tool's arguments must be an object.");
    const hub = await this.#started();
    const outcome = await hub.call(toolName, args, this.#callOptions(toolName, options));
    if (outcome.ok) return outcome.result;
    const option = `\`timeout\`, or \`tool_timeouts\` of ${toolName},`;
    throw this.#explained(new FailError(outcome), options.timeout === undefined ? option : "`timeout` of the call");
  }

  /** Last lines of the server's stderr, also after a failed start and after `stop()`. */
  get stderr(): readonly string[] {
    const lines = this.#hub?.sources[0]?.status.stderr ?? [];
    return lines.length > 0 ? lines : this.#lastStderr;
  }

  list_tools(): Promise<readonly ToolDefinition[]> {
    return this.listTools();
  }
  call_tool(...args: Parameters<MCPClient["callTool"]>): Promise<unknown> {
    return this.callTool(...args);
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #start(): Promise<SourceHub> {
    if (this.#starting) return this.#starting;
    const starting: Promise<SourceHub> = this.#open(this.#stopping.signal).catch((error: unknown) => {
      if (this.#starting === starting) this.#starting = undefined;
      throw error;
    });
    this.#starting = starting;
    return starting;
  }

  #started(): Promise<SourceHub> {
    return (
      this.#starting ??
      Promise.reject(
        new FailError(fail("unavailable", "The client is not started. Call `start()` first.", { retryable: false })),
      )
    );
  }

  async #open(stopped: AbortSignal): Promise<SourceHub> {
    const { server, connectTimeoutMs, connectAttempts, logger } = this.#options;
    const settings = await server();
    if (stopped.aborted) throw new FailError(STOPPED);
    const common = { namespace: "", connect_timeout: connectTimeoutMs };
    const config: HubConfig = {
      mcp:
        "command" in settings
          ? { stdio_servers: { [ALIAS]: { ...settings, ...common } } }
          : { remote_servers: [{ alias: ALIAS, ...settings, ...common }] },
    };
    const hub = new SourceHub({
      settings: () => config,
      endpoint: "client",
      connectAttempts,
      requestIds: this.#requestIds,
      ...(logger ? { logger } : {}),
    });
    this.#lastStderr = [];
    this.#hub = hub;
    try {
      await hub.connect(connectTimeoutMs * connectAttempts);
      if (stopped.aborted) throw new FailError(STOPPED);
      return hub;
    } catch (error) {
      this.#keepStderr(hub);
      await hub.close();
      this.#keepStderr(hub);
      if (this.#hub === hub) this.#hub = undefined;
      throw this.#explained(error, "`connect_timeout`");
    }
  }

  #keepStderr(hub: SourceHub | undefined): void {
    const lines = hub?.sources[0]?.status.stderr ?? [];
    if (lines.length > 0) this.#lastStderr = lines;
  }

  /** Adds to a failure the advice that `option` can be raised, and the server's last line on stderr. */
  #explained(error: unknown, option: string): unknown {
    if (!(error instanceof FailError)) return error;
    const { failure } = error;
    const advice = failure.kind === "timeout" && !failure.message.includes(option) ? ` ${option} can be raised.` : "";
    const last = failure.kind === "unavailable" || failure.kind === "timeout" ? this.stderr.at(-1) : undefined;
    const said = last === undefined ? "" : ` Its last line on stderr: ${firstChars(last, MAX_LINE_CHARS)}`;
    return advice === "" && said === ""
      ? error
      : new FailError({ ...failure, message: failure.message + advice + said });
  }

  #callOptions(toolName: string, { timeout, signal, onNotice }: CallToolOptions): CallOptions {
    const { timeoutMs, toolTimeoutsMs } = this.#options;
    return {
      ...(timeout === undefined
        ? { idleTimeoutMs: toolTimeoutsMs.get(toolName) ?? timeoutMs }
        : { timeoutMs: parseSeconds(timeout, "timeout") }),
      ...(signal ? { signal } : {}),
      ...(onNotice ? { onNotice, logLevel: "debug" } : {}),
    };
  }
}
