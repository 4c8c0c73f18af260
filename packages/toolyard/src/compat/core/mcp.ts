import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Logger } from "../../core/ports/ports.ts";
import { isHubItself } from "../../core/sources/provider-kinds.ts";
import type { Problem } from "../../core/sources/records.ts";
import { resourceValue, toolValue } from "../../core/calls/tool-value.ts";
import { readCapabilities } from "../../endpoints/jsonrpc/capabilities.ts";
import { describeServer } from "../../providers/builtin/options.ts";
import { openHub, type Hub } from "../../hub/open-hub.ts";
import { toolyardOf, type CallOptions, type Toolyard } from "../../kernel/toolyard.ts";
import { localSourcesStarted, missingModules } from "../../hub/sources/local-sources.ts";
import type { ModuleHub } from "../../providers/modules/api.ts";
import { ModulesHost } from "../../providers/modules/host.ts";
import { LateLogger } from "../../telemetry/late-logger.ts";
import { Registries } from "./registries.ts";
import type { MCPResource, MCPTool } from "./records.ts";
import { loadCoreConfig, type CoreConfig, type MCPOptions } from "./settings.ts";
import { toMcpError } from "./to-error.ts";

/** Result of `mcp/discover`. */
export interface Capabilities {
  readonly mcp_version: string;
  readonly server_description: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: JsonObject }[];
  readonly resources: readonly { readonly uri_template: string; readonly description: string }[];
}

interface OpenCore {
  readonly hub: Hub;
  readonly toolyard: Toolyard;
  readonly config: CoreConfig;
}

/**
 * The core server (G1): registers tools and resources, discovers modules, and runs tools. It uses one hub, opened at
 * first use, so registrations are available on every endpoint. `close()` closes everything that was started.
 */
export class MCP {
  readonly logger: Logger;
  /**
   * Registers a tool: `(name, func, schema?, description?, options?)`, or one object with those members. Throws an
   * `OptionError` for an invalid registration.
   */
  readonly registerTool: ModuleHub["registerTool"];
  readonly register_tool: ModuleHub["registerTool"];
  /** Registers a resource: `(uriTemplate, retriever, description?, options?)`. */
  readonly registerResource: ModuleHub["registerResource"];
  readonly register_resource: ModuleHub["registerResource"];
  readonly unregisterTool: ModuleHub["unregisterTool"];
  readonly unregisterResource: ModuleHub["unregisterResource"];
  readonly #options: MCPOptions;
  readonly #late = new LateLogger();
  readonly #host: ModulesHost;
  readonly #registries: Registries;
  #opening: Promise<OpenCore> | undefined;
  #gnnRoots: readonly string[] = [];
  #discovering: Promise<boolean> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: MCPOptions = {}) {
    this.#options = options;
    this.logger = this.#late;
    this.#host = new ModulesHost(this.#late, (hub) => this.#faceOf(hub));
    this.#registries = new Registries(
      this.#host,
      (name, args) => this.executeTool(name, args),
      (uri) => this.getResource(uri),
    );
    const { hub } = this.#host.own.registrations;
    this.registerTool = this.register_tool = hub.registerTool;
    this.registerResource = this.register_resource = hub.registerResource;
    this.unregisterTool = hub.unregisterTool;
    this.unregisterResource = hub.unregisterResource;
  }

  /** Tools by name. Tools of the hub's other sources are as of the last discovery or listing. */
  get tool_registry(): ReadonlyMap<string, MCPTool> {
    return this.#registries.tools();
  }
  get toolRegistry(): ReadonlyMap<string, MCPTool> {
    return this.tool_registry;
  }

  /** Resources by URI template. */
  get resource_registry(): ReadonlyMap<string, MCPResource> {
    return this.#registries.resources();
  }
  get resourceRegistry(): ReadonlyMap<string, MCPResource> {
    return this.resource_registry;
  }

  /** Exports of the modules, by dotted module name. */
  get discovered_modules(): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
    return new Map(this.#host.modules.map(({ name, exports }) => [name, exports]));
  }
  get discoveredModules(): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
    return this.discovered_modules;
  }

  /** Folders in [gnn] for the GNN modules; set after the core was opened. */
  get gnnRoots(): readonly string[] {
    return this.#gnnRoots;
  }

  /** Problems that exclude modules or other configured items. */
  get diagnostics(): readonly Problem[] {
    return this.#registries.problems;
  }

  /** True if every discovered module is loaded. */
  get allModulesLoaded(): boolean {
    return this.diagnostics.every(({ source }) => source !== "modules");
  }

  /** Returns the dotted names of discovered modules that failed to import; `diagnostics` has the reasons. */
  async missingModules(): Promise<readonly string[]> {
    return missingModules(await this.hub());
  }

  /**
   * Discovers modules in the source roots and lets them register. Further calls search again. Resolves with true if at
   * least one tool is registered besides the hub's `meta.*` tools. Waits for each module up to `timeout` of [modules].
   * A failed module is logged and listed in `diagnostics`.
   */
  discoverModules(): Promise<boolean> {
    this.#discovering ??= this.#discover().finally(() => (this.#discovering = undefined));
    return this.#discovering;
  }

  /**
   * Runs a tool by any spelling of its name and resolves with its plain value. Rejects with an `MCPToolNotFoundError`,
   * an `MCPInvalidParamsError`, an `MCPToolExecutionError`, or an `MCPError` for a refusal of the hub.
   */
  async executeTool(toolName: string, params: JsonObject = {}, options: CallOptions = {}): Promise<unknown> {
    this.logger.info(`Attempting to execute tool: ${toolName}`);
    const { toolyard } = await this.#open();
    const outcome = await toolyard.call(toolName, params, options);
    if (!outcome.ok) {
      const isUnknown = outcome.kind === "unknown_tool";
      const message = isUnknown
        ? `Tool not found: ${toolName}`
        : `Error executing tool ${toolName}: ${outcome.message}`;
      // An error that the tool threw is already in the log, so only other failures are logged here.
      if (outcome.cause === undefined) this.logger.error(message, { kind: outcome.kind });
      throw toMcpError(outcome, { tool: toolName });
    }
    this.logger.info(`Tool ${toolName} executed successfully.`);
    return toolValue(outcome.result);
  }

  /**
   * Reads a resource and resolves with its plain content. Rejects with an `MCPResourceNotFoundError`, or an `MCPError`
   * if its retriever fails.
   */
  async getResource(uri: string, options: CallOptions = {}): Promise<unknown> {
    this.logger.info(`Attempting to retrieve resource: ${uri}`);
    const { toolyard } = await this.#open();
    const outcome = await toolyard.read(uri, options);
    if (!outcome.ok) {
      const isUnknown = outcome.kind === "unknown_tool";
      this.logger.error(
        isUnknown ? `Resource not found: ${uri}` : `Error retrieving resource ${uri}: ${outcome.message}`,
        { kind: outcome.kind },
      );
      throw toMcpError(outcome, { uri });
    }
    this.logger.info(`Resource ${uri} retrieved successfully.`);
    return resourceValue(outcome.result);
  }

  /** Returns all tools and resources. */
  async getCapabilities(): Promise<Capabilities> {
    this.logger.info("Retrieving server capabilities.");
    const { hub } = await this.#open();
    const view = { mode: "all", principal: LOCAL_PRINCIPAL } as const;
    return (await readCapabilities(hub.port, view, describeServer(hub.config.tree.builtin))) as unknown as Capabilities;
  }

  /** Returns the underlying hub, for endpoints. */
  async hub(): Promise<Hub> {
    return (await this.#open()).hub;
  }

  /** Closes everything that was started. Registrations remain, but nothing can be run. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  discover_modules(): Promise<boolean> {
    return this.discoverModules();
  }
  execute_tool(...args: Parameters<MCP["executeTool"]>): Promise<unknown> {
    return this.executeTool(...args);
  }
  get_resource(...args: Parameters<MCP["getResource"]>): Promise<unknown> {
    return this.getResource(...args);
  }
  get_capabilities(): Promise<Capabilities> {
    return this.getCapabilities();
  }

  #open(): Promise<OpenCore> {
    if (this.#closed) return Promise.reject(new Error("This MCP core is closed. Create a new one."));
    this.#opening ??= this.#openHub();
    return this.#opening;
  }

  async #openHub(): Promise<OpenCore> {
    const { variables = process.env, logger } = this.#options;
    try {
      const config = await loadCoreConfig(this.#options);
      const hub = await openHub({
        config: config.bare,
        variables,
        modulesHost: this.#host,
        ...(logger ? { logger } : {}),
      });
      this.#gnnRoots = config.bare.tree.gnn?.roots ?? [];
      this.#late.bind(hub.logger);
      for (const warning of config.bare.warnings) hub.logger.warning(warning);
      return { hub, toolyard: toolyardOf(hub, { endpoint: "core" }), config };
    } catch (error) {
      // A failed opening is not kept, because the configuration may be corrected before the next attempt.
      this.#opening = undefined;
      throw error;
    }
  }

  async #discover(): Promise<boolean> {
    const { hub, toolyard, config } = await this.#open();
    await hub.reconfigure(config.discovered);
    await localSourcesStarted(hub, { onWaiting: (names) => this.#tellWaiting(names) });
    await this.#registries.refresh(toolyard);
    return hub.port.sources().some(({ source, tools }) => !isHubItself(source) && tools > 0);
  }

  #tellWaiting(names: readonly string[]): void {
    this.logger.info(`Waiting for modules that are being imported: ${names.join(", ")}`);
    this.#options.onWaiting?.(names);
  }

  async #close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.toolyard.close();
    await this.#host.own.close();
  }

  /**
   * Returns the object with which a module registers. It behaves like this core, but its registrations belong to the
   * module and are removed with it.
   */
  #faceOf(hub: ModuleHub): ModuleHub {
    const own = hub as unknown as Record<PropertyKey, unknown>;
    const face = new Proxy(this as object, {
      get: (core, key) => {
        if (Object.hasOwn(own, key)) return own[key];
        const value: unknown = Reflect.get(core, key, core);
        return typeof value === "function" ? value.bind(core) : value;
      },
    });
    return face as ModuleHub;
  }
}
