import type { ImageRequest, TextRequest } from "../../core/ports/models.ts";
import type { Logger, SearchAnswer } from "../../core/ports/ports.ts";
import type { IsTyped, ToolArguments } from "./arguments.ts";
import type { ModuleObject } from "./module-object.ts";

/**
 * The interface of the hub for modules. A module is a file `mcp.ts` (or `.mts`, `.mjs`, `.js`) that exports
 * `registerTools(hub)`. Every method also has a snake_case name. All methods may also be called later, while the module
 * runs; the lists are updated.
 */

/**
 * A JSON Schema, a bare map of properties, `{}` for no parameters, or a schema of a library: zod 3, zod from 4.2 on, or
 * any other library that converts its schemas to JSON Schema. The handler receives the arguments as parsed by that
 * library.
 */
export type ModuleSchema = object;

/** A schema without type information: the handler declares its own argument types. */
type UntypedSchema<S> = S & ([IsTyped<S>] extends [true] ? never : unknown);

/**
 * Runs a tool. Its return value becomes the result: a string is text; `null` and `undefined` are an empty result; an
 * object is structured content, and the same as JSON text; any other JSON value is JSON text; a `Blob` or `Uint8Array`
 * is an image, audio or binary resource; an MCP result (with a `content` array, or `resultType: "input_required"`) is
 * passed on unchanged. A thrown value becomes an error result with the error's message. An error with a JSON-RPC `code`
 * (-32768 to -32000) becomes a protocol error instead.
 */
export type ToolHandler<A extends object = ModuleObject> = (args: A, context: ToolContext) => unknown;

export interface ToolOptions {
  readonly title?: string;
  /** JSON Schema of the structured content. */
  readonly outputSchema?: ModuleSchema;
  readonly output_schema?: ModuleSchema;
  /** Hints of MCP: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`. */
  readonly annotations?: ModuleObject;
  readonly icons?: readonly ModuleObject[];
  /** Words with which the search finds the tool. */
  readonly keywords?: readonly string[];
  /** `native`: listed. `ondemand`: found only by search. @default the section's `visibility` */
  readonly visibility?: "native" | "ondemand";
  /** Maximum time without activity: milliseconds, or a text such as "30s". @default the hub's limit */
  readonly timeout?: number | string;
  /** Maximum total time: milliseconds, or a text such as "30s". @default the hub's limit */
  readonly totalTimeout?: number | string;
  readonly total_timeout?: number | string;
  /** Maximum number of concurrent calls. @default the hub's limit */
  readonly maxConcurrent?: number;
  readonly max_concurrent?: number;
  /** Maximum size of a result in bytes. @default the hub's limit */
  readonly maxResultBytes?: number;
  readonly max_result_bytes?: number;
  /** Further names that callers may use and that are never listed. */
  readonly aliases?: readonly string[];
  readonly _meta?: ModuleObject;
}

/** Argument of the form of `registerTool` with one object. */
export interface ToolRegistration<
  A extends object = ModuleObject,
  S extends ModuleSchema = ModuleSchema,
> extends ToolOptions {
  readonly name: string;
  readonly handler: ToolHandler<A>;
  readonly schema?: S;
  readonly inputSchema?: S;
  readonly input_schema?: S;
  readonly description?: string;
}

/**
 * Registers a tool. If the compiler can read the schema, it determines the types of the handler's arguments. Otherwise
 * the handler declares its own.
 */
export interface RegisterTool {
  <A extends object = ModuleObject, const S extends ModuleSchema = ModuleSchema>(
    name: string,
    handler: ToolHandler<A>,
    schema?: UntypedSchema<S>,
    description?: string,
    options?: ToolOptions,
  ): Registration;
  <A extends object = ModuleObject, const S extends ModuleSchema = ModuleSchema>(
    registration: ToolRegistration<A, UntypedSchema<S>>,
  ): Registration;
  <const S extends ModuleSchema>(registration: ToolRegistration<ToolArguments<S>, S>): Registration;
  <const S extends ModuleSchema>(
    name: string,
    handler: ToolHandler<ToolArguments<S>>,
    schema: S,
    description?: string,
    options?: ToolOptions,
  ): Registration;
}

/** Suggests values for the typed text: a list that the hub filters, or a function that returns filtered values. */
export type Completer =
  | readonly string[]
  | ((
      value: string,
      context: { readonly arguments: Readonly<Record<string, string>>; readonly signal: AbortSignal },
    ) => readonly string[] | Promise<readonly string[]>);

/**
 * Reads a resource. A string is its text, an object its JSON, a `Uint8Array` or `Blob` its bytes. `{contents: […]}` is
 * passed on unchanged. `null` and `undefined` mean that there is no such resource.
 */
export type ResourceRetriever = (
  uri: string,
  variables: Readonly<Record<string, string>>,
  context: ToolContext,
) => unknown;

export interface ResourceOptions {
  /** Name of the resource. @default the URI or template */
  readonly name?: string;
  readonly title?: string;
  /**
   * Media type. @default "application/json" for objects, "text/plain" for text, "application/octet-stream" for bytes
   */
  readonly mimeType?: string;
  readonly mime_type?: string;
  readonly size?: number;
  readonly annotations?: ModuleObject;
  readonly icons?: readonly ModuleObject[];
  /** Completers by variable of the template. */
  readonly complete?: Readonly<Record<string, Completer>>;
  readonly _meta?: ModuleObject;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

/**
 * Creates a prompt. A string is one message of the user, an array is a list of messages, and `{messages: […]}` is
 * passed on unchanged.
 */
export type PromptHandler = (args: Readonly<Record<string, string>>, context: ToolContext) => unknown;

export interface PromptOptions {
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  /** Completers by argument. */
  readonly complete?: Readonly<Record<string, Completer>>;
  readonly icons?: readonly ModuleObject[];
  readonly _meta?: ModuleObject;
}

/**
 * Facts and functions for one call of a handler.
 *
 * @example
 * ```ts
 * import type { RegisterTools } from "toolyard";
 *
 * export const registerTools: RegisterTools = (hub) => {
 *   hub.registerTool("copy", async (_args, context) => {
 *     for (let done = 1; done <= 10 && !context.signal.aborted; done += 1) context.progress(done, 10);
 *     return "copied";
 *   }, { type: "object" });
 * };
 * ```
 */
export interface ToolContext {
  /** Aborts when the caller cancels or disconnects, or when the time has expired. */
  readonly signal: AbortSignal;
  /** The caller: `"local"`, or the name of the token's entry. */
  readonly principal: string;
  readonly client: { readonly name?: string; readonly version?: string; readonly capabilities: ModuleObject };
  /** Member `_meta` of the request. */
  readonly meta: ModuleObject;
  /** Answers to the `inputRequests` of an earlier round, and the state that was sent with them. Both are untrusted. */
  readonly inputResponses?: ModuleObject;
  readonly requestState?: string;
  /** Sends a log message to the caller, if it requested this level. */
  log(level: ContextLogLevel, data: unknown, logger?: string): void;
  /** Reports progress to the caller. It also resets the inactivity time limit. */
  progress(progress: number, total?: number, message?: string): void;
  /**
   * Sends a server request to the caller (`elicitation/create`, `sampling/createMessage`, `roots/list`) and returns its
   * result. Rejects if the caller's client does not support it.
   */
  ask(method: string, params?: ModuleObject, options?: { readonly signal?: AbortSignal }): Promise<ModuleObject>;
  /**
   * Calls another tool of the hub as the same caller. Returns its MCP result. Rejects with an `Error` whose `kind` is
   * one of the hub's outcome codes.
   */
  call(tool: string, args?: ModuleObject, options?: { readonly signal?: AbortSignal }): Promise<ModuleObject>;
  /** Reads a resource of the hub as the same caller. Returns its MCP result; rejects like `call`. */
  read(uri: string, options?: { readonly signal?: AbortSignal }): Promise<ModuleObject>;
  /** Finds tools of the hub that the caller may use; the best match comes first. */
  search(query: string, options?: { readonly limit?: number }): Promise<SearchAnswer>;
  /** Returns every tool that the caller may use, as in `tools/list`. */
  list(): Promise<readonly ModuleObject[]>;
  /** Calls the configured language model. Rejects with kind `unavailable` if there is none. */
  generateText(request: TextRequest): Promise<{ readonly text: string }>;
  /** Generates an image with the configured image model. Rejects with kind `unavailable` if there is none. */
  generateImage(request: ImageRequest): Promise<{ readonly data: Uint8Array; readonly mimeType: string }>;
}

export type ContextLogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** Removes a registration. A second call has no effect. */
export interface Registration {
  unregister(): void;
}

export interface ModuleHub {
  /** The hub's own log. Each line names the module. */
  readonly logger: Logger;
  readonly registerTool: RegisterTool;
  /** Registers a resource by its URI, or by an RFC 6570 template such as `notes://{folder}/{id}`. */
  registerResource(
    uriTemplate: string,
    retriever: ResourceRetriever,
    description?: string,
    options?: ResourceOptions,
  ): Registration;
  registerPrompt(name: string, handler: PromptHandler, options?: PromptOptions): Registration;
  unregisterTool(name: string): boolean;
  unregisterResource(uriTemplate: string): boolean;
  unregisterPrompt(name: string): boolean;
  /** Notifies all subscribers of the URI that the content has changed. */
  resourceUpdated(uri: string): void;
  /** Notifies all clients that the lists have changed. Registrations do that automatically. */
  listChanged(): void;
  /**
   * Adds a function that runs after the module's last call when the module is replaced or removed, or when the hub
   * ends. Close files and timers in it.
   */
  onClose(close: () => void | Promise<void>): void;

  readonly register_tool: RegisterTool;
  register_resource: ModuleHub["registerResource"];
  register_prompt: ModuleHub["registerPrompt"];
  unregister_tool: ModuleHub["unregisterTool"];
  unregister_resource: ModuleHub["unregisterResource"];
  unregister_prompt: ModuleHub["unregisterPrompt"];
  resource_updated: ModuleHub["resourceUpdated"];
  list_changed: ModuleHub["listChanged"];
  on_close: ModuleHub["onClose"];
}

/**
 * Export of a module file, which registers the module's tools.
 *
 * @example
 * ```ts
 * import type { RegisterTools } from "toolyard";
 *
 * export const registerTools: RegisterTools = (hub) => {
 *   hub.registerTool("add", ({ a, b }) => a + b, {
 *     type: "object",
 *     properties: { a: { type: "number" }, b: { type: "number" } },
 *     required: ["a", "b"],
 *   });
 * };
 * ```
 */
export type RegisterTools = (hub: ModuleHub) => unknown;
