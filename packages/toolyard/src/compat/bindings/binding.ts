import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { GenerateText, LlmBinding, TtiBinding } from "./client-models.ts";

/** What bindings say of a tool. */
export interface ToolDefinition {
  /** Unique among the tools of the binding; behind `alias::` where the binding has several servers. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the parameters. */
  readonly input_schema: JsonObject;
  /** JSON Schema of `output`, where the tool declares one. */
  readonly output_schema?: JsonObject;
}

/** Options of a discovery. A binding may take more. */
export interface DiscoverToolsOptions {
  /** Nothing that is kept counts: every source is asked anew. @default false */
  readonly forceRefresh?: boolean;
  readonly force_refresh?: boolean;
  /**
   * How long each source may take: seconds, or text such as `"500ms"`. Sources are asked at the same time. @default 10
   */
  readonly timeoutPerServer?: number | string;
  readonly timeout_per_server?: number | string;
}

/** What a tool may be given of the program that calls it. */
export interface ClientInstance {
  /** Takes what the tool logs while it runs. */
  readonly logger?: Partial<Pick<Logger, "debug" | "info" | "warning" | "error">>;
  /** Hears the tool's progress. */
  readonly progress?: (progress: number, total?: number, message?: string) => void;
  /** Draws images for tools that need some. */
  readonly tti?: TtiBinding | null;
  /** Writes texts for tools that ask a language model: the client itself, or its `llm`. Either spelling will do. */
  readonly generate_text?: GenerateText;
  readonly generateText?: GenerateText;
  readonly llm?: LlmBinding | null;
}

/** Options of an execution. A binding may take more. */
export interface ExecuteToolOptions {
  /**
   * How long the tool may take in all: seconds, or text such as `"500ms"`. @default 60 seconds without a sign of life
   */
  readonly timeout?: number | string;
  readonly lollmsClientInstance?: ClientInstance;
  readonly lollms_client_instance?: ClientInstance;
  /** Ends the call. */
  readonly signal?: AbortSignal;
}

/** `{output, status_code: 200}`, or `{error, status_code}` with the status of the table of errors. */
export type ToolResult = ToolSuccess | ToolFailure;

export interface ToolSuccess {
  readonly output: unknown;
  readonly status_code: number;
}

export interface ToolFailure {
  readonly error: string;
  readonly status_code: number;
  /** What the tool itself gave with its failure, where it gave an object. */
  readonly output?: unknown;
}

/** Marks the prototype of the abstract class, also that of another copy of this package. */
const BASE = Symbol.for("toolyard.binding");
const METHODS = [
  ["discoverTools", "discover_tools"],
  ["executeTool", "execute_tool"],
] as const;

/**
 * The contract of all bindings: something that discovers tools and executes one. Neither throws for what goes wrong out
 * there. A class implements `discoverTools` and `executeTool`, or `discover_tools` and `execute_tool` as the documents
 * write them, and may override the getter of its configuration in either spelling; what it does not write leads to what
 * it does. The constructor refuses a class that lacks either method.
 *
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
  /** Unique name of the binding: `local_mcp`, `standard_mcp`. */
  readonly binding_name: string;
  readonly #config: Readonly<JsonObject>;
  #isAsking = false;

  /** @param config what `get_binding_config` returns @throws TypeError when the class lacks a method of the contract */
  constructor(bindingName: string, config: Readonly<JsonObject> = {}) {
    this.binding_name = bindingName;
    this.#config = config;
    const lacking = missingMethods(Object.getPrototypeOf(this) as object);
    if (lacking.length > 0) throw new TypeError(lackingMessage(new.target.name, lacking));
  }

  get bindingName(): string {
    return this.binding_name;
  }

  /** Definitions of all tools; an empty list when there are none or something went wrong. Never rejects. */
  discoverTools(options?: DiscoverToolsOptions): Promise<readonly ToolDefinition[]> {
    return this.discover_tools(options);
  }

  /** Runs a tool. Never rejects: what went wrong is `{error, status_code}`. */
  executeTool(toolName: string, params: JsonObject, options?: ExecuteToolOptions): Promise<ToolResult> {
    return this.execute_tool(toolName, params, options);
  }

  /** The configuration that the instance was made with. */
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

  /** By the other spelling of the getter, where the class wrote that one and is not asked by it already. */
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

/** The methods of the contract that a class's prototype lacks, inherited ones counted, the base's own aliases not. */
export function missingMethods(prototype: object): readonly string[] {
  return METHODS.filter((spellings) => !spellings.some((name) => implementsMethod(prototype, name))).map(
    ([camel]) => camel,
  );
}

/** Whether a class, or an object itself, wrote the method; the aliases of the base class do not count. */
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
    `\`${className}\` is no binding: it lacks ${lacking.map((name) => `\`${name}\``).join(" and ")}. ` +
    "A binding discovers tools and executes one."
  );
}
