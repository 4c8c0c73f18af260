import { OptionError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { isReservedMethod } from "../../core/names/method-names.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { UriTemplate } from "../../core/uris/uri-template.ts";
import type {
  Completer,
  ModuleHub,
  PromptHandler,
  PromptOptions,
  Registration,
  ResourceOptions,
  ResourceRetriever,
} from "./api.ts";
import { kindOf, readToolEntry, type ToolEntry } from "./tool-entry.ts";

export interface ResourceEntry {
  /** URI or URI template of the resource. */
  readonly key: string;
  /** Parsed template; absent for a plain URI. */
  readonly template?: UriTemplate;
  readonly mimeType?: string;
  readonly definition: JsonObject;
  readonly retriever: ResourceRetriever;
  readonly complete: Readonly<Record<string, Completer>>;
}

export interface PromptEntry {
  readonly name: string;
  readonly description?: string;
  readonly required: readonly string[];
  readonly definition: JsonObject;
  readonly handler: PromptHandler;
  readonly complete: Readonly<Record<string, Completer>>;
}

export interface RegistrationEvents {
  /** True if the calling program registers; rejections are then thrown. @default false: a module registers */
  readonly isProgram?: boolean;
  changed(): void;
  resourceUpdated(uri: string): void;
}

/** Names of the hub's own tools (C29). */
const RESERVED = /^(?:tool_search|execute_tool|execute_code|meta\..*)$/u;

/** The current registrations of one module, and the functions that change them. */
export class Registrations {
  readonly tools = new Map<string, ToolEntry>();
  readonly resources = new Map<string, ResourceEntry>();
  readonly prompts = new Map<string, PromptEntry>();
  readonly closers: (() => void | Promise<void>)[] = [];
  /** Reasons of rejected registrations, by name. */
  readonly refused = new Map<string, string>();
  readonly hub: ModuleHub;
  readonly #logger: Logger;
  readonly #events: RegistrationEvents;
  #closed = false;

  constructor(logger: Logger, events: RegistrationEvents) {
    this.#logger = logger;
    this.#events = events;
    this.hub = this.#createHub();
  }

  /** Ignores all later registrations, because the module was replaced or took too long. */
  close(): void {
    this.#closed = true;
  }

  #createHub(): ModuleHub {
    const registerTool = (...args: unknown[]): Registration => this.#registerTool(args);
    // oxlint-disable-next-line max-params -- the public face: modules pass them in this order
    const registerResource: ModuleHub["registerResource"] = (uri, retriever, description = "", options = {}) =>
      this.#add("Resource", this.resources, readResourceEntry({ uri, retriever, description, options }));
    const registerPrompt: ModuleHub["registerPrompt"] = (name, handler, options) =>
      this.#add("Prompt", this.prompts, readPromptEntry(name, handler, options));
    const unregisterTool = (name: string): boolean => this.#remove(this.tools, name);
    const unregisterResource = (uri: string): boolean => this.#remove(this.resources, uri);
    const unregisterPrompt = (name: string): boolean => this.#remove(this.prompts, name);
    const resourceUpdated = (uri: string): void => {
      if (!this.#closed) this.#events.resourceUpdated(uri);
    };
    const listChanged = (): void => this.#changed();
    const onClose: ModuleHub["onClose"] = (close) => {
      this.closers.push(close);
    };
    return {
      logger: this.#logger,
      registerTool,
      registerResource,
      registerPrompt,
      unregisterTool,
      unregisterResource,
      unregisterPrompt,
      resourceUpdated,
      listChanged,
      onClose,
      register_tool: registerTool,
      register_resource: registerResource,
      register_prompt: registerPrompt,
      unregister_tool: unregisterTool,
      unregister_resource: unregisterResource,
      unregister_prompt: unregisterPrompt,
      resource_updated: resourceUpdated,
      list_changed: listChanged,
      on_close: onClose,
    };
  }

  #registerTool(args: readonly unknown[]): Registration {
    const entry = readToolEntry(args);
    // Names of protocol methods are always refused, unlike the names of the hub's own tools: on a connection with
    // several dialects, such a name has another meaning.
    if (isReservedMethod(entry.name))
      throw new OptionError(
        `Tool \`${entry.name}\`: the name is a method of the protocol, or begins like one. ` +
          `Choose another one, such as \`my.${entry.name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}\`.`,
      );
    if (RESERVED.test(entry.name)) {
      const reason = "the name belongs to the hub's own tools. Choose another one.";
      const message = `Tool ${entry.name} is not registered: ${reason}`;
      this.refused.set(entry.name, message);
      // For a program, the invalid registration is an error in the calling line. For a module it is not thrown, because
      // the module's other tools are still valid.
      if (this.#events.isProgram) throw new OptionError(message);
      this.#logger.warning(message);
      return { unregister: () => {} };
    }
    if (entry.warning !== undefined) this.#logger.warning(`Tool ${entry.name}: ${entry.warning}`);
    return this.#add("Tool", this.tools, entry);
  }

  #add<E extends { readonly key: string } | { readonly name: string }>(
    word: string,
    entries: Map<string, E>,
    entry: E,
  ): Registration {
    const key = "key" in entry ? entry.key : entry.name;
    if (this.#closed) {
      this.#logger.warning(`${word} ${key} is not registered: the module was replaced or removed before.`);
      return { unregister: () => {} };
    }
    if (entries.has(key)) this.#logger.warning(overwriting(word, key));
    entries.set(key, entry);
    this.#logger.info(`Registered ${word.toLowerCase()}: ${key}`);
    this.#changed();
    const unregister = (): void => {
      if (entries.get(key) === entry) this.#remove(entries, key);
    };
    return { unregister };
  }

  #remove<E>(entries: Map<string, E>, key: string): boolean {
    const removed = !this.#closed && entries.delete(key);
    if (removed) this.#changed();
    return removed;
  }

  #changed(): void {
    if (!this.#closed) this.#events.changed();
  }
}

/** Returns the exact message that G8 and G10 prescribe. */
export function overwriting(word: string, key: string): string {
  return `${word === "Resource" ? "Resource URI template" : word} ${key} already registered. Overwriting.`;
}

/** Arguments of `registerResource` before they are checked. */
interface GivenResource {
  readonly uri: string;
  readonly retriever: ResourceRetriever;
  readonly description: string;
  readonly options: ResourceOptions;
}

function readResourceEntry(given: GivenResource): ResourceEntry {
  assertResource(given);
  const { uri, retriever, description, options } = given;
  const { complete = {}, mime_type, mimeType = mime_type, name = uri, ...rest } = options;
  const template = new UriTemplate(uri);
  const isTemplate = template.names.length > 0;
  const media = mimeType === undefined ? {} : { mimeType };
  const about = { ...rest, name, ...(description === "" ? {} : { description }), ...media };
  return {
    key: uri,
    ...(isTemplate ? { template } : {}),
    ...media,
    definition: isTemplate ? { uriTemplate: uri, ...about } : { uri, ...about },
    retriever,
    complete,
  };
}

function assertResource({ uri, retriever, options }: GivenResource): void {
  if (typeof uri !== "string" || uri === "")
    throw new OptionError(`A resource needs a URI or a URI template, got ${kindOf(uri)}.`);
  if (typeof retriever !== "function")
    throw new OptionError(`Resource \`${uri}\`: the retriever must be a function, got ${kindOf(retriever)}.`);
  if (kindOf(options) !== "an object")
    throw new OptionError(`Resource \`${uri}\`: the options must be an object, got ${kindOf(options)}.`);
}

function readPromptEntry(name: string, handler: PromptHandler, options: PromptOptions = {}): PromptEntry {
  if (typeof name !== "string" || name === "") throw new OptionError(`A prompt needs a name, got ${kindOf(name)}.`);
  if (typeof handler !== "function")
    throw new OptionError(`Prompt \`${name}\`: the handler must be a function, got ${kindOf(handler)}.`);
  if (kindOf(options) !== "an object")
    throw new OptionError(`Prompt \`${name}\`: the options must be an object, got ${kindOf(options)}.`);
  const { complete = {}, ...rest } = options;
  const required = (options.arguments ?? [])
    .filter((argument) => argument.required === true)
    .map((argument) => argument.name);
  return {
    name,
    ...(options.description === undefined ? {} : { description: options.description }),
    required,
    definition: { name, ...rest },
    handler,
    complete,
  };
}
