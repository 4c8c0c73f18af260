import { OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { GenerateText, LlmBinding, TtiBinding } from "./client-models.ts";

/** Definition of a tool, as a binding returns it. */
export interface ToolDefinition {
  /** Name, unique in the binding; with the prefix `alias::` if the binding has several servers. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the parameters. */
  readonly input_schema: JsonObject;
  /** JSON Schema of `output`, if the tool declares one. */
  readonly output_schema?: JsonObject;
}

/** Options of a discovery. A binding may accept more. */
export interface DiscoverToolsOptions {
  /** True to ignore cached lists and request every source again. @default false */
  readonly forceRefresh?: boolean;
  readonly force_refresh?: boolean;
  /**
   * Time limit for each source: seconds, or text such as `"500ms"`. Sources are requested concurrently. @default 10
   */
  readonly timeoutPerServer?: number | string;
  readonly timeout_per_server?: number | string;
}

/** Services that the calling program provides to a tool. */
export interface ClientInstance {
  /** Logger for the tool's log messages. */
  readonly logger?: Partial<Pick<Logger, "debug" | "info" | "warning" | "error">>;
  /** Called with the tool's progress. */
  readonly progress?: (progress: number, total?: number, message?: string) => void;
  /** Image model for tools. */
  readonly tti?: TtiBinding | null;
  /** Text model for tools: the client itself, or its `llm`. Both spellings work. */
  readonly generate_text?: GenerateText;
  readonly generateText?: GenerateText;
  readonly llm?: LlmBinding | null;
}

/** Options of an execution. A binding may accept more. */
export interface ExecuteToolOptions {
  /** Time limit of the call: seconds, or text such as `"500ms"`. @default 60 seconds without activity */
  readonly timeout?: number | string;
  readonly lollmsClientInstance?: ClientInstance;
  readonly lollms_client_instance?: ClientInstance;
  /** Signal that cancels the call. */
  readonly signal?: AbortSignal;
}

/**
 * Result of a call: `{output, status_code: 200}`, or `{error, status_code}` with the HTTP status of the outcome code.
 */
export type ToolResult = ToolSuccess | ToolFailure;

export interface ToolSuccess {
  readonly output: unknown;
  readonly status_code: number;
}

export interface ToolFailure {
  readonly error: string;
  readonly status_code: number;
  /** Output that the tool returned with its failure, if it is an object. */
  readonly output?: unknown;
}

/** Marks the prototype of the base class. The symbol is the same in all copies of this package. */
const BASE = Symbol.for("toolyard.binding");
const METHODS = [
  ["discoverTools", "discover_tools"],
  ["executeTool", "execute_tool"],
] as const;

/**
 * The contract of all bindings: discover tools, and execute one. Neither method throws for external failures. A class
 * implements `discoverTools` and `executeTool`, or `discover_tools` and `execute_tool` as in the specified Python
 * interface, and may override the getter of its configuration in either spelling. A missing spelling calls the
 * implemented one. The constructor throws for a class that lacks either method.
 * @example
 * ```ts
 * import { LollmsMCPBinding } from "toolyard/bindings";
 *
 * export class EchoBinding extends LollmsMCPBinding {
 *   override async discoverTools() {
 *     return [{ name: "echo", description: "Returns its arguments", input_schema: { type: "object" } }];
 *   }
 *
 *   override async executeTool(tool: string, params: Record<string, unknown>) {
 *     return tool === "echo" ? { output: params, status_code: 200 } : { error: "Tool not found", status_code: 404 };
 *   }
 * }
 * ```
 */
export abstract class LollmsMCPBinding {
  /** Unique name of the binding, such as `local_mcp` or `standard_mcp`. */
  readonly binding_name: string;
  readonly #config: Readonly<JsonObject>;
  #isAsking = false;

  /**
   * @param config Result of `get_binding_config`.
   * @throws OptionError if the name is not text or empty
   * @throws TypeError if the class lacks a method of the contract
   */
  constructor(bindingName: string, config: Readonly<JsonObject> = {}) {
    if (typeof bindingName !== "string" || bindingName.trim() === "")
      throw new OptionError(
        `The name of a binding must be text that is not empty, got ${JSON.stringify(bindingName)}.`,
      );
    this.binding_name = bindingName;
    this.#config = config;
    const lacking = missingMethods(Object.getPrototypeOf(this) as object);
    if (lacking.length > 0) throw new TypeError(lackingMessage(new.target.name, lacking));
  }

  get bindingName(): string {
    return this.binding_name;
  }

  /** Returns the definitions of all tools; an empty list if there are none or after a failure. Never rejects. */
  discoverTools(options?: DiscoverToolsOptions): Promise<readonly ToolDefinition[]> {
    return this.discover_tools(options);
  }

  /** Runs a tool. Never rejects: a failure is `{error, status_code}`. */
  executeTool(toolName: string, params: JsonObject, options?: ExecuteToolOptions): Promise<ToolResult> {
    return this.execute_tool(toolName, params, options);
  }

  /** Returns the configuration of this instance. */
  getBindingConfig(): Readonly<JsonObject> {
    return this.#configBy("get_binding_config");
  }

  discover_tools(options?: DiscoverToolsOptions): Promise<readonly ToolDefinition[]> {
    return this.discoverTools(options);
  }
  execute_tool(toolName: string, params: JsonObject, options?: ExecuteToolOptions): Promise<ToolResult> {
    return this.executeTool(toolName, params, options);
  }
  get_binding_config(): Readonly<JsonObject> {
    return this.#configBy("getBindingConfig");
  }

  /**
   * Calls the getter in the other spelling. Returns the constructor's configuration if the class does not implement
   * that getter, or if the getter is already running.
   */
  #configBy(other: "getBindingConfig" | "get_binding_config"): Readonly<JsonObject> {
    if (this.#isAsking || !implementsMethod(Object.getPrototypeOf(this) as object, other)) return this.#config;
    this.#isAsking = true;
    try {
      return this[other]();
    } finally {
      this.#isAsking = false;
    }
  }
}

Object.defineProperty(LollmsMCPBinding.prototype, BASE, { value: true });

/**
 * Returns the methods of the contract that a class's prototype lacks. Inherited methods count, but not the aliases of
 * the base class.
 */
export function missingMethods(prototype: object): readonly string[] {
  return METHODS.filter((spellings) => !spellings.some((name) => implementsMethod(prototype, name))).map(
    ([camel]) => camel,
  );
}

/** Returns whether a class, or an object itself, implements the method. Aliases of the base class do not count. */
export function implementsMethod(prototype: object, name: string): boolean {
  for (
    let at: object | null = prototype;
    at !== null && at !== Object.prototype && !Object.hasOwn(at, BASE);
    at = Object.getPrototypeOf(at) as object | null
  ) {
    if (typeof Object.getOwnPropertyDescriptor(at, name)?.value === "function") return true;
  }
  return false;
}

export function lackingMessage(className: string, lacking: readonly string[]): string {
  return (
    `\`${className}\` is not a binding: it lacks ${lacking.map((name) => `\`${name}\``).join(" and ")}. ` +
    "A binding discovers tools and executes one."
  );
}
