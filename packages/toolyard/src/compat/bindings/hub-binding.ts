import { stringifyExact } from "../../core/json/exact-json.ts";
import { OptionError, messageOf } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { CallNotification } from "../../core/calls/call.ts";
import type { CallOptions } from "../../kernel/toolyard.ts";
import { assertOptions, parseSeconds, snakeKeys } from "../option-keys.ts";
import { SourceHub, type SourceHubOptions } from "../source-hub.ts";
import {
  LollmsMCPBinding,
  type ClientInstance,
  type DiscoverToolsOptions,
  type ExecuteToolOptions,
  type ToolDefinition,
  type ToolResult,
} from "./binding.ts";
import { clientModels } from "./client-models.ts";
import { thrownFailure, toDefinition, toResult } from "./results.ts";

const DISCOVERY_MS = 10_000;
const EXECUTION_MS = 60_000;
/** Advice in messages of the hub. It is replaced, because the timeout of a binding is an option of the method. */
const HUB_TIMEOUT = "Raise the timeout of this source or tool";

/** A problem of a binding, with its source. */
export interface BindingProblem {
  readonly source: string;
  readonly message: string;
}

/**
 * A binding based on a hub with the binding's sources. The hub opens at first use. `close()` closes everything that was
 * started.
 */
export abstract class HubBinding extends LollmsMCPBinding implements AsyncDisposable {
  protected readonly hub: SourceHub;
  #failures: readonly BindingProblem[] = [];

  constructor(bindingName: string, config: Readonly<JsonObject>, hub: Omit<SourceHubOptions, "endpoint">) {
    super(bindingName, config);
    this.hub = new SourceHub({ endpoint: bindingName, ...hub });
  }

  /** Problems that exclude sources or tools, as of the last discovery. */
  get diagnostics(): readonly BindingProblem[] {
    const found = this.hub.sources.flatMap(({ problems }) =>
      problems.map(({ source, subject, message }) => ({ source, message: `${subject}: ${message}` })),
    );
    return [...this.#failures, ...found].map(({ source, message }) => ({ source, message: this.inOwnWords(message) }));
  }

  /** Returns a message of the hub with the option names of this class. */
  protected inOwnWords(message: string): string {
    return message;
  }

  override async discoverTools(options?: DiscoverToolsOptions): Promise<readonly ToolDefinition[]> {
    try {
      const given = assertOptions("discover_tools", options ?? {}, "timeout_per_server: 5");
      const { force_refresh: force = false, timeout_per_server: timeout } = snakeKeys(given, [
        "force_refresh",
        "timeout_per_server",
      ]);
      const timeoutMs = timeout === undefined ? DISCOVERY_MS : parseSeconds(timeout, "timeout_per_server");
      const { tools, failures } = await this.hub.discover({ surface: "binding", force: force === true, timeoutMs });
      this.#failures = Array.from(failures, ([source, { message }]) => ({
        source,
        message: message.replace(HUB_TIMEOUT, "Raise `timeout_per_server`"),
      }));
      return tools.map(toDefinition);
    } catch (error) {
      this.#failures = [{ source: this.binding_name, message: messageOf(error) }];
      return [];
    }
  }

  override async executeTool(toolName: string, params?: JsonObject, options?: ExecuteToolOptions): Promise<ToolResult> {
    try {
      if (typeof toolName !== "string")
        return { error: `\`tool_name\` must be text, got ${kindOf(toolName)}.`, status_code: 400 };
      // Null means that there are no arguments, like `None` in the specified Python interface.
      const args = params ?? {};
      if (!isJsonObject(args))
        return { error: "`params` must be an object with the tool's parameters.", status_code: 400 };
      const outcome = await this.hub.call(
        toolName,
        args,
        toCallOptions(assertOptions("execute_tool", options ?? {}, "timeout: 30")),
      );
      return this.#told(toResult(outcome));
    } catch (error) {
      if (error instanceof OptionError) return { error: error.message, status_code: 400 };
      return this.#told(thrownFailure(error));
    }
  }

  #told(result: ToolResult): ToolResult {
    if (!("error" in result)) return result;
    return { ...result, error: this.inOwnWords(result.error).replace(HUB_TIMEOUT, "Raise `timeout` of the execution") };
  }

  /** Closes everything that was started. */
  close(): Promise<void> {
    return this.hub.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

function toCallOptions(options: ExecuteToolOptions): CallOptions {
  const {
    timeout,
    lollms_client_instance: instance,
    signal,
  } = snakeKeys(options, ["timeout", "lollms_client_instance", "signal"]);
  const client = typeof instance === "object" && instance !== null ? (instance as ClientInstance) : undefined;
  const models = clientModels(client);
  return {
    ...(models ? { models } : {}),
    ...(timeout === undefined ? { idleTimeoutMs: EXECUTION_MS } : { timeoutMs: parseSeconds(timeout, "timeout") }),
    ...(signal instanceof AbortSignal ? { signal } : {}),
    ...(client ? { logLevel: "debug", onNotice: (notification) => tell(client, notification) } : {}),
  };
}

/**
 * Passes a notification to the client instance. A tool runs in a separate process, so its log and progress arrive as
 * messages.
 */
function tell({ logger, progress }: ClientInstance, { method, params }: CallNotification): void {
  if (method === "notifications/progress") {
    const { progress: done, total, message } = params;
    progress?.(
      Number(done),
      typeof total === "number" ? total : undefined,
      typeof message === "string" ? message : undefined,
    );
  } else {
    const text = typeof params["data"] === "string" ? params["data"] : stringifyExact(params["data"]);
    logger?.[loggerLevel(params["level"])]?.(text);
  }
}

function loggerLevel(level: unknown): "debug" | "info" | "warning" | "error" {
  if (level === "debug" || level === "warning") return level;
  return level === "info" || level === "notice" ? "info" : "error";
}
