import type { JsonObject } from "../../core/json/json.ts";
import type { Problem } from "../../core/sources/records.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import type { ModulesHost } from "../../providers/modules/host.ts";
import type { Registrations } from "../../providers/modules/registrations.ts";
import { MCPResource, MCPTool } from "./records.ts";

/** Registries for programs. Registrations are current; all other entries are as of the last listing. */
export class Registries {
  readonly #host: ModulesHost;
  readonly #execute: (name: string, args: JsonObject) => Promise<unknown>;
  readonly #read: (uri: string) => Promise<unknown>;
  #otherTools: readonly JsonObject[] = [];
  #otherResources: readonly JsonObject[] = [];
  #problems: () => readonly Problem[] = () => [];

  constructor(
    host: ModulesHost,
    execute: (name: string, args: JsonObject) => Promise<unknown>,
    read: (uri: string) => Promise<unknown>,
  ) {
    this.#host = host;
    this.#execute = execute;
    this.#read = read;
  }

  get problems(): readonly Problem[] {
    return this.#problems();
  }

  async refresh(toolyard: Toolyard): Promise<void> {
    const all = await toolyard.list({ mode: "all" });
    const finders = await toolyard.list({ mode: "discovery" });
    const templates = [...(await toolyard.listResources()), ...(await toolyard.listResourceTemplates())];
    // Registrations are current, so they replace the entries of the list. The list contains all tools, so discovery
    // tools are omitted.
    const known = new Set<unknown>([
      ...this.#registrations().flatMap((one) => [...one.tools.keys(), ...one.resources.keys()]),
      ...finders.map(({ name }) => name),
    ]);
    this.#otherTools = all.filter(({ name }) => !known.has(name));
    this.#otherResources = templates.filter(({ uri, uriTemplate }) => !known.has(uri ?? uriTemplate));
    this.#problems = () => toolyard.sources().flatMap(({ problems }) => problems);
  }

  tools(): Map<string, MCPTool> {
    const tools = new Map<string, MCPTool>();
    for (const { tools: registered } of this.#registrations()) {
      for (const { name, handler, inputSchema, description } of registered.values()) {
        const func = byItself(handler, (args: JsonObject = {}) => this.#execute(name, args));
        tools.set(name, new MCPTool({ name, func, schema: inputSchema, description }));
      }
    }
    for (const entry of this.#otherTools) {
      const name = String(entry["name"]);
      const func = (args: JsonObject = {}): Promise<unknown> => this.#execute(name, args);
      if (!tools.has(name))
        tools.set(
          name,
          new MCPTool({
            name,
            func,
            schema: entry["inputSchema"] as JsonObject,
            description: String(entry["description"] ?? ""),
          }),
        );
    }
    return tools;
  }

  resources(): Map<string, MCPResource> {
    const resources = new Map<string, MCPResource>();
    for (const { resources: registered } of this.#registrations()) {
      for (const { key, retriever: own, definition } of registered.values()) {
        const retriever = byItself(own, (uri = key) => this.#read(uri));
        resources.set(
          key,
          new MCPResource({ uri_template: key, retriever, description: String(definition["description"] ?? "") }),
        );
      }
    }
    for (const entry of this.#otherResources) {
      const key = String(entry["uri"] ?? entry["uriTemplate"]);
      const retriever = (uri = key): Promise<unknown> => this.#read(uri);
      if (!resources.has(key))
        resources.set(
          key,
          new MCPResource({ uri_template: key, retriever, description: String(entry["description"] ?? "") }),
        );
    }
    return resources;
  }

  #registrations(): Registrations[] {
    return [...this.#host.modules.map(({ registrations }) => registrations), this.#host.own.registrations];
  }
}

/**
 * Returns a registered function for direct calls. If it has several parameters and is called with one argument, the hub
 * runs it and supplies the other arguments.
 */
function byItself(
  own: (...args: never[]) => unknown,
  run: (...args: never[]) => unknown,
): (...args: never[]) => unknown {
  return own.length <= 1 ? own : (...args) => (args.length > 1 ? own(...args) : run(...args));
}
