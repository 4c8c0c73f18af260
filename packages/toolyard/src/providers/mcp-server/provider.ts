import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { cancellationOf } from "../../core/calls/call.ts";
import { Emitter } from "../../core/events.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type { Tracing } from "../../core/ports/tracing.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type {
  ColdStart,
  ListingRequest,
  Provider,
  ProviderEvents,
  ProviderStatus,
  ResolvedCall,
} from "../../core/sources/provider.ts";
import { EMPTY_LISTING, type Listing, type Source } from "../../core/sources/records.ts";
import { orAborted } from "../../core/timing/wait.ts";
import { VERSION } from "../../core/version.ts";
import { withoutTask } from "../../upstream/connection/capabilities.ts";
import type { CallRequest } from "../../upstream/connection/connection.ts";
import type { EraName, Implementation } from "../../upstream/connection/era.ts";
import type { LinkCaller, LegacyProcess } from "../../upstream/links/links.ts";
import type { RequestIds } from "../../upstream/connection/exchange.ts";
import type { Gate } from "../../upstream/links/gate.ts";
import type { Installer } from "../../upstream/links/installer.ts";
import { ListingCache, type ListingStore } from "../../upstream/listing/listing-cache.ts";
import type { ServerListing } from "../../upstream/listing/listing.ts";
import { tracedTransports } from "../../upstream/transports/traced-transport.ts";
import type { OpenTransport } from "../../upstream/transports/transport.ts";
import { Upstream } from "../../upstream/upstream.ts";
import { CallSlots } from "../call-slots.ts";
import type { McpServerOptions } from "./options.ts";
import { toListing } from "./records.ts";

/** Changes that one kind of server makes to each list and each call. */
export interface ServerAdapter {
  /** Returns the part of the server's list that is offered. */
  readonly listing: (listing: Listing) => Listing;
  /** Returns the call as it is sent to the server. */
  readonly call: (call: ResolvedCall) => ResolvedCall;
}

/** Identity of the server, and the parts of the hub that it uses. */
export interface McpServerFacts {
  readonly source: Source;
  readonly options: McpServerOptions;
  readonly logger: Logger;
  /** Name and version of the hub that are sent to the server. @default toolyard and its version */
  readonly clientInfo?: Implementation;
  /** Call slots that several providers share. @default its own slots */
  readonly slots?: CallSlots;
  /** Changes lists and calls. @default they are unchanged */
  readonly adapter?: ServerAdapter;
  /** Records requests to the server. @default they are not recorded */
  readonly tracing?: Tracing | undefined;
}

/** Ways to start and to reach the server. */
export interface McpServerStart {
  readonly openTransport: OpenTransport;
  /** True if opening another connection starts no process. */
  readonly opensCheaply: boolean;
  /** Condition under which a server that supports both eras gets a second process. @default "auto" */
  readonly legacyProcess?: LegacyProcess;
  /** Limits the number of concurrent starts. @default one gate for the process */
  readonly gate?: Gate;
  /** Present if starting the server may download packages. @default none */
  readonly installer?: Installer | undefined;
  /** Resolves with the era of the first caller; an eager start waits for it. @default no wait */
  readonly firstCallerEra?: Promise<EraName | undefined>;
  /** True: the server starts on demand. False: it starts immediately. @default as configured by `start` */
  readonly lazy?: boolean | undefined;
  /** Counter of request ids for all connections. @default each connection has its own */
  readonly requestIds?: RequestIds | undefined;
}

/** Lists of the server that are kept for the next start. */
export interface McpServerLists {
  /**
   * Data that identify the server in addition to the source id: command and arguments, or URL. Only their hash is
   * written to disk.
   */
  readonly cacheKey: readonly string[];
  /** Folder of last known listings; absent: they are not stored. */
  readonly cacheFolder?: string;
  /** Storage of the last known listing. @default a file in `cacheFolder` */
  readonly listingStore?: ListingStore;
  /**
   * Returns whether a text of this source contains no secret, so that it may be stored in that folder. @default true
   * for all texts
   */
  readonly isSecretFree?: (source: string, text: string) => boolean;
  /** Maximum time in milliseconds, from its start, that lists wait for a server that was never listed. @default 5000 */
  readonly coldWaitMs?: number;
}

export interface McpServerDeps extends McpServerFacts, McpServerStart, McpServerLists {}

export function createMcpServerProvider(deps: McpServerDeps): Provider {
  return deps.options.enabled ? new McpServerProvider(deps) : disabledProvider(deps.source);
}

/**
 * Tools, resources and prompts of one MCP server. Its transport contains everything that depends on how the server is
 * reached.
 */
class McpServerProvider implements Provider {
  readonly source: Source;
  readonly events: ProviderEvents;
  readonly mend?: (signal: AbortSignal) => Promise<void>;
  readonly restartUnused?: () => Promise<void>;
  readonly #upstream: Upstream;
  readonly #slots: CallSlots;
  readonly #adapter: ServerAdapter | undefined;
  #known: ServerListing | undefined;
  #listing: Listing = EMPTY_LISTING;

  constructor(deps: McpServerDeps) {
    const { source, options } = deps;
    this.source = source;
    this.#upstream = createUpstream(deps);
    this.#slots = deps.slots ?? new CallSlots(options.maxConcurrent);
    this.events = this.#upstream.events;
    this.#adapter = deps.adapter;
    if (!deps.opensCheaply) this.restartUnused = () => this.#upstream.restartUnused();
    const { installer } = deps;
    if (!installer) return;
    this.mend = async (signal) => {
      await orAborted(installer.mend(signal), signal);
      await this.#upstream.refresh(signal);
    };
  }

  open(): void {
    this.#upstream.open();
  }

  listing(wish?: ListingRequest): Listing | Promise<Listing> {
    const listing = this.#upstream.listings.listing(wish);
    return listing instanceof Promise ? listing.then((known) => this.#toListing(known)) : this.#toListing(listing);
  }

  coldStart(): ColdStart | undefined {
    return this.#upstream.listings.coldStart();
  }

  refresh(signal: AbortSignal): Promise<void> {
    return this.#upstream.refresh(signal);
  }

  call(given: ResolvedCall): Promise<Outcome> {
    const call = this.#adapter?.call(given) ?? given;
    return this.#slots.isBounded ? this.#callInTurn(call) : this.#upstream.calls.call(call, toRequest(call));
  }

  async #callInTurn(call: ResolvedCall): Promise<Outcome> {
    let leave = (): void => {};
    try {
      const entering = this.#slots.enter(cancellationOf(call), call);
      leave = entering instanceof Promise ? await entering : entering;
      return await this.#upstream.calls.call(call, toRequest(call));
    } catch (error) {
      if (error instanceof FailError) return error.failure;
      throw error;
    } finally {
      leave();
    }
  }

  subscribe(uri: string, caller: LinkCaller): Promise<() => Promise<void>> {
    return this.#upstream.subscribe(uri, caller);
  }

  setLogLevel(level: string): Promise<void> {
    return this.#upstream.setLogLevel(level);
  }

  rootsChanged(connection: string): void {
    void this.#upstream.links.find(connection)?.current?.rootsChanged();
  }

  release(connection: string): void {
    this.#upstream.links.release(connection);
  }

  status(): ProviderStatus {
    return this.#upstream.status();
  }

  close(): Promise<void> {
    return this.#upstream.close();
  }

  #toListing(known: ServerListing): Listing {
    if (known !== this.#known) {
      this.#known = known;
      const listing = toListing(known, this.source);
      this.#listing = this.#adapter?.listing(listing) ?? listing;
    }
    return this.#listing;
  }
}

function createUpstream(deps: McpServerDeps): Upstream {
  const { source, options, logger, clientInfo, tracing } = deps;
  const openTransport = tracing ? tracedTransports(deps.openTransport, source, tracing) : deps.openTransport;
  const { idleStopMs, isolation, era, protocolVersion, maxSessions, connectTimeoutMs, logLevel } = options;
  const { opensCheaply, legacyProcess = "auto", gate, firstCallerEra, coldWaitMs, installer, requestIds } = deps;
  const cache = deps.listingStore ?? listingCacheFor(deps, deps);
  return new Upstream(
    {
      source: source.id,
      openTransport,
      clientInfo: clientInfo ?? { name: "toolyard", version: VERSION },
      start: startOf(deps),
      // A server with an outage report gets a new connection attempt at every call.
      ...(source.outage && { retryFloorMs: 0 }),
      idleStopMs,
      isolation,
      era,
      opensCheaply,
      legacyProcess,
      maxSessions,
      protocolVersion,
      roots: options.roots.map(toRoot),
      connectTimeoutMs,
      ...(logLevel !== undefined && { logLevel }),
    },
    {
      logger: logger.with({ source: source.id }),
      installer,
      ...(gate && { gate }),
      ...(cache && { cache }),
      ...(coldWaitMs !== undefined && { coldWaitMs }),
      ...(firstCallerEra && { firstCallerEra }),
      requestIds,
    },
  );
}

function startOf({ lazy, options }: Pick<McpServerDeps, "lazy" | "options">): McpServerOptions["start"] {
  if (lazy === undefined) return options.start;
  return lazy ? "lazy" : "eager";
}

function listingCacheFor(
  { source, logger }: McpServerFacts,
  { cacheFolder: folder, cacheKey, isSecretFree }: McpServerLists,
): ListingCache | undefined {
  if (folder === undefined) return undefined;
  const key = [source.kind, source.id, ...cacheKey];
  return new ListingCache({
    folder,
    key,
    logger,
    ...(isSecretFree && { isSecretFree: (text) => isSecretFree(source.id, text) }),
  });
}

function toRoot(root: string): JsonObject {
  const uri = /^[a-z][a-z0-9+.-]+:\/\//i.test(root) ? root : pathToFileURL(resolve(root)).href;
  return { uri };
}

/** Returns the request for the server: the caller's own `params`, with the names that the server knows. */
function toRequest(call: ResolvedCall): CallRequest {
  const { record, params } = call;
  switch (record.type) {
    case "tool": {
      const { name, definition } = record.tool;
      const { inputSchema, execution } = definition as Partial<Record<"inputSchema" | "execution", JsonObject>>;
      return { params: toolParams(params, { name, arguments: call.arguments }), inputSchema, execution };
    }
    case "resource":
      return { params: { ...params, uri: record.uri } };
    case "extension":
      return { method: record.method, params };
    case "prompt":
      return { params: { ...params, name: record.prompt.name, arguments: call.arguments } };
    case "completion": {
      const { ref, prompt, template } = record;
      return {
        params: {
          ...params,
          ref: { ...ref, ...(prompt && { name: prompt.name }), ...(template && { uri: template.uriTemplate }) },
        },
      };
    }
  }
}

/**
 * Returns the parameters of a tool's call: `own`, and further members that the caller sent. Usually there are none, and
 * nothing is copied, because copying a frozen object is slow in V8.
 */
function toolParams(params: JsonObject, own: JsonObject): JsonObject {
  for (const _ in params) return { ...withoutTask(params), ...own };
  return own;
}

function disabledProvider(source: Source): Provider {
  return {
    source,
    events: { changed: new Emitter(), resourceUpdated: new Emitter(), log: new Emitter() },
    open: () => {},
    listing: () => EMPTY_LISTING,
    call: async () => fail("unavailable", "This source is disabled by its configuration.", { retryable: false }),
    status: () => ({ state: "disabled" }),
    close: async () => {},
  };
}
