import type { Call, Principal } from "../core/calls/call.ts";
import { FailError } from "../core/errors.ts";
import { Emitter } from "../core/events.ts";
import type {
  HubEvents,
  HubPort,
  ListKind,
  RenderedList,
  ServerFacts,
  SourceReport,
  View,
  WaitOptions,
} from "../core/ports/hub-port.ts";
import { LOGGER, SCOPES } from "../core/services.ts";
import { fail } from "../core/calls/outcome.ts";
import { getService } from "../kernel/start-features.ts";
import { TELEMETRY } from "../kernel/telemetry.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { Redactor } from "../telemetry/redactor.ts";
import type { Kernel } from "./kernel.ts";
import { LogLevels } from "./log-levels.ts";
import { passThroughProvider } from "./pass-through.ts";
import { serverFacts } from "./server-facts.ts";

const CLOSED = "The hub is shutting down. Try again once it is back.";

/** The hub's interface for callers. It delegates to the pipeline, the catalog and the sources. */
export class CallerPort implements HubPort {
  readonly events: HubEvents = { listsChanged: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() };
  readonly levels: LogLevels;
  readonly #kernel: Kernel;
  readonly #redactor: Redactor;
  /** Makes a call. `usePipeline` replaces it. */
  call: Pipeline;

  constructor(kernel: Kernel, pipeline: Pipeline) {
    this.#kernel = kernel;
    this.call = pipeline;
    this.#redactor = getService(kernel.services, TELEMETRY).redactor;
    this.levels = new LogLevels(getService(kernel.services, LOGGER));
    kernel.catalog.changed.on((change) => this.events.listsChanged.emit(change));
  }

  /** Sets the pipeline for the calls from now on. With `undefined`, calls fail as `unavailable`. */
  usePipeline(pipeline: Pipeline | undefined): void {
    this.call = pipeline ?? (() => Promise.resolve(fail("unavailable", CLOSED)));
  }

  async list(kind: ListKind, view: View, { waits = true }: WaitOptions = {}): Promise<RenderedList> {
    const catalog = this.#kernel.catalog.for(view.principal);
    return (waits ? await catalog.snapshot() : catalog.current).list(kind, view);
  }

  passesOn(_method: string, principal: Principal): boolean {
    return passThroughProvider(this.#kernel, principal) !== undefined;
  }

  async facts(principal: Principal, { waits = true }: WaitOptions = {}): Promise<ServerFacts> {
    return serverFacts(this.#kernel, principal, waits);
  }

  async subscribe(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>> {
    const { catalog, sources } = this.#kernel;
    const view: View = { mode: "all", principal: caller.principal };
    const lookup = await catalog
      .for(caller.principal)
      .lookUp({ text: uri, isUri: true, view }, (snapshot) => snapshot.resolveResource(uri, view));
    if (!lookup.found) throw new FailError(lookup.failure);
    const refusal = getService(this.#kernel.services, SCOPES).refusal(caller.principal, lookup.subject, lookup.name);
    if (refusal) throw new FailError(refusal);
    const provider = sources.find(lookup.source.id);
    if (provider?.subscribe) return provider.subscribe(lookup.target.uri, caller);
    throw new FailError(
      fail(
        "tool_error",
        `${lookup.source.id} does not report changes of its resources, so ${uri} cannot be subscribed to.`,
      ),
    );
  }

  setLogLevel(connection: string, level: string): Promise<void> {
    return this.levels.set(connection, level, this.#kernel.sources.providers);
  }

  rootsChanged(connection: string): void {
    for (const provider of this.#kernel.sources.providers) provider.rootsChanged?.(connection);
  }

  release(connection: string): void {
    const { providers } = this.#kernel.sources;
    for (const provider of providers) provider.release?.(connection);
    void this.levels.release(connection, providers);
  }

  sources(): readonly SourceReport[] {
    const { catalog, sources, noted } = this.#kernel;
    const { current } = catalog;
    return sources.providers.map((provider) => {
      const { source } = provider;
      const counts = current.counts.bySource.get(source.id);
      return {
        source,
        status: this.#redactor.knownIn(provider.status()),
        tools: counts?.tools ?? 0,
        resources: (counts?.resources ?? 0) + (counts?.templates ?? 0),
        prompts: counts?.prompts ?? 0,
        problems: this.#redactor.knownIn([
          ...current.problems.filter((problem) => problem.source === source.id),
          ...noted.of(source.id),
        ]),
      };
    });
  }
}
