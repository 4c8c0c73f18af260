import { registerTracing, TRACING } from "../core/ports/tracing.ts";
import { LOGGER, VARIABLES, type MadeHub } from "../core/services.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { Provider } from "../core/sources/provider.ts";
import { keptAlive } from "../core/timing/wait.ts";
import type { AnyFeature, Contribution } from "../kernel/feature.ts";
import { getService, prepareFeatures, type Services } from "../kernel/start-features.ts";
import { TELEMETRY } from "../kernel/telemetry.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { HubState } from "../state/ports/store.ts";
import { CallerPort } from "./caller-port.ts";
import { controlOf } from "./hub-control.ts";
import { createKernel } from "./create-kernel.ts";
import type { Kernel } from "./kernel.ts";
import { createKernelServices } from "./kernel-services.ts";
import { OpenEndpoints } from "./open-endpoints.ts";
import type { OpenHubOptions } from "./open-hub-options.ts";
import type { LoadedHubConfig } from "./schema.ts";
import type { Planner } from "./sources/plan.ts";
import { SourceEvents } from "./sources/source-events.ts";
import type { SourceChanges, SourceSet } from "./sources/source-set.ts";
import { ToolDirectory } from "./tool-directory.ts";

/** Running hub: the kernel, its features, and its open endpoints. */
export class Hub {
  /** Interface of the hub for callers, which endpoints use. */
  readonly port: CallerPort;
  readonly tools: ToolDirectory;
  readonly sources: SourceSet;
  readonly endpoints = new OpenEndpoints();
  /** Services of the kernel and of the features. `getService` reads one. */
  readonly services: Services;
  readonly features: readonly AnyFeature[];
  readonly logger: Logger;
  readonly #kernel: Kernel;
  readonly #isHosted: boolean;
  readonly #onConfigured: OpenHubOptions["onConfigured"];
  readonly #heard: SourceEvents;
  #pipeline: Pipeline;
  #config: LoadedHubConfig;
  #closed: Promise<void> | undefined;

  constructor(options: OpenHubOptions, state: HubState) {
    const config = (): LoadedHubConfig => this.#config;
    this.#config = options.config;
    this.#isHosted = options.modulesHost !== undefined;
    this.#onConfigured = options.onConfigured;
    const control = controlOf(this);
    const contributions: Contribution[] = [];
    const late = { getHub: () => made, control: () => control, contributions: () => contributions };
    const services = createKernelServices(options, { state, config, ...late });
    const kernel = createKernel(options, { services, tree: () => this.#config.tree, contributions });
    this.#kernel = kernel;
    this.#pipeline = kernel.createPipeline(options.config);
    this.port = new CallerPort(kernel, this.#pipeline);
    this.tools = new ToolDirectory(kernel);
    this.#heard = new SourceEvents({
      catalog: kernel.catalog,
      events: this.port.events,
      redactor: getService(kernel.services, TELEMETRY).redactor,
    });
    this.sources = kernel.sources;
    this.services = kernel.services;
    this.features = kernel.features;
    this.logger = getService(kernel.services, LOGGER);
    const made: MadeHub = madeHub(this);
    const tracing = getService(kernel.services, TRACING);
    if (tracing) registerTracing(this.port, tracing);
  }

  get config(): LoadedHubConfig {
    return this.#config;
  }

  /**
   * Applies a configuration to sources and limits. Unchanged sources continue. Rejects if an option is invalid, and
   * then changes nothing. With `isDraft`, only returns the changes of sources.
   */
  async reconfigure(config: LoadedHubConfig, isDraft = false): Promise<SourceChanges> {
    const { features, planner, sources, catalog, services, createPipeline } = this.#kernel;
    // The features were prepared for the current configuration before the hub was created.
    if (config !== this.#config) await prepareFeatures(features, config.tree, getService(services, VARIABLES));
    const { redactor } = getService(services, TELEMETRY);
    redactor.addAll(config.secrets);
    if (isDraft) return sources.changesTo(planner.draft(config, this.#placeOf(config)));
    const planned = planner.plan(config, this.#placeOf(config));
    redactor.give(new Map(planned.map(({ id, key }) => [id, key])));
    const keepsLimits = JSON.stringify(config.tree.limits) === JSON.stringify(this.#config.tree.limits);
    // The pipeline is replaced only if limits changed, because it holds the queues of running calls and the circuits.
    const pipeline = keepsLimits ? this.#pipeline : createPipeline(config);
    const changes = await sources.apply(planned, {
      onAdded: (provider) => this.#attach(provider),
      onRemoved: (provider) => this.#detach(provider),
    });
    catalog.configure(planner.sources);
    this.#pipeline = pipeline;
    if (!this.#closed) this.port.usePipeline(pipeline);
    this.#config = config;
    this.#onConfigured?.(config);
    return changes;
  }

  #placeOf({ folder }: LoadedHubConfig): Parameters<Planner["plan"]>[1] {
    return { folder, isHosted: this.#isHosted, isForAll: this.endpoints.isForAll };
  }

  /**
   * Ends everything that the hub started. The caller must close the endpoints before, so that running calls can end.
   */
  close(): Promise<void> {
    this.#closed ??= keptAlive(this.#close());
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.port.usePipeline(undefined);
    this.#kernel.catalog.close();
    await this.#kernel.sources.close();
    await this.#kernel.close();
  }

  #attach(provider: Provider): void {
    this.#heard.listenTo(provider);
    this.#kernel.catalog.add(provider);
    void this.port.levels.applyTo(provider);
  }

  #detach(provider: Provider): void {
    const { id } = provider.source;
    this.#heard.leave(provider);
    this.#kernel.noted.forget(id);
    this.#kernel.catalog.remove(id);
  }
}

function madeHub(hub: Hub): MadeHub {
  return {
    port: hub.port,
    tools: hub.tools,
    endpoints: hub.endpoints,
    get folder() {
      return hub.config.folder;
    },
  };
}
