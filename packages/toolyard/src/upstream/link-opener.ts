import { isSharedLink, linkCaller } from "../core/calls/link-key.ts";
import type { Connection, ConnectionOptions } from "./connection/connection.ts";
import type { ServerLogLevel } from "./connection/server-log-level.ts";
import { Subscriptions } from "./connection/subscriptions.ts";
import type { IdleStop } from "./idle-stop.ts";
import type { LinkPlace } from "./links/further-links.ts";
import { CONNECT_GATE } from "./links/gate.ts";
import { Link, type LinkEvents } from "./links/link.ts";
import type { Links, LinkWish } from "./links/links.ts";
import type { ListingTracker } from "./listing/listing-tracker.ts";
import type { ServerJournal } from "./server-journal.ts";
import type { ServerMemory } from "./server-memory.ts";
import type { UpstreamDeps, UpstreamEvents, UpstreamOptions } from "./upstream-contract.ts";

/** Maximum time without an answer to the modern probe before `initialize` is tried too. */
const PROBE_SILENCE_MS = 1500;
/** Maximum time without an answer if a missing answer does not indicate a legacy server; see `patienceMs`. */
const PATIENCE_MS = 10_000;
const BACKOFF = { firstMs: 500, maxMs: 60_000, stableMs: 30_000 };

/** Receivers of the links' events. */
export interface LinkListeners {
  readonly links: Links;
  readonly listings: ListingTracker;
  readonly journal: ServerJournal;
  readonly logLevel: ServerLogLevel;
  readonly memory: ServerMemory;
  readonly idle: IdleStop | undefined;
  readonly events: UpstreamEvents;
  readonly isClosed: () => boolean;
}

/** Opens links to one server, and passes their events on. */
export class LinkOpener {
  readonly #options: UpstreamOptions;
  readonly #deps: UpstreamDeps;
  readonly #parts: () => LinkListeners;

  /** `parts` is a function because the first link is opened before all of the parts exist. */
  constructor(options: UpstreamOptions, deps: UpstreamDeps, parts: () => LinkListeners) {
    this.#options = options;
    this.#deps = deps;
    this.#parts = parts;
  }

  open({ key, capabilities, era: wished, label }: LinkWish): LinkPlace {
    const isShared = isSharedLink(key);
    const { openTransport, connectTimeoutMs, retryFloorMs } = this.#options;
    const { gate = CONNECT_GATE, logger } = this.#deps;
    const connectionOptions = (): ConnectionOptions => {
      const { era: knownEra, preferred } = this.#parts().links;
      const prefersLegacy =
        knownEra !== "legacy" && (wished ?? (label === undefined ? preferred : undefined)) === "legacy";
      return {
        clientInfo: this.#options.clientInfo,
        isShared,
        capabilities,
        roots: this.#options.roots,
        asks: this.#parts().memory.asks && isShared,
        era: this.#options.era,
        protocolVersion: this.#options.protocolVersion,
        prefersLegacy,
        probeSilenceMs: PROBE_SILENCE_MS,
        patienceMs: Math.min(PATIENCE_MS, connectTimeoutMs / 3),
        logger,
        requestIds: this.#deps.requestIds,
        ...(knownEra && { knownEra }),
      };
    };
    // With subscribers, the link reconnects after a loss, so that the subscribers receive later changes.
    const keepAlive = (): boolean => (label === undefined && this.#options.start === "eager") || subscriptions.size > 0;
    const events =
      label === undefined
        ? this.#firstEvents(() => subscriptions)
        : this.#furtherEvents(() => subscriptions, { label, isShared });
    const link = new Link(
      {
        openTransport: () => openTransport(linkCaller(key)),
        connectionOptions,
        connectTimeoutMs,
        gate,
        installer: this.#deps.installer,
        backoff: BACKOFF,
        keepAlive,
        retryFloorMs,
        logger,
      },
      events,
    );
    const subscriptions = new Subscriptions((signal) => link.get(signal));
    return { link, subscriptions };
  }

  #firstEvents(subscriptions: () => Subscriptions): LinkEvents {
    return {
      ...this.#commonEvents(),
      onLog: (params) => this.#parts().events.log.emit({ params }),
      onReady: (connection) => {
        this.#parts().links.opened(connection.era);
        this.#parts().journal.connected(connection);
        void this.#parts().logLevel.tell(connection);
        this.#parts().listings.connected();
        this.#parts().idle?.restart();
        this.#renew(subscriptions(), connection);
      },
      onDown: (failure) => {
        this.#parts().journal.down(failure);
        this.#parts().listings.unreachable();
      },
      onAsked: () => this.#asked(),
      onPlaced: (principal) => this.#parts().links.asked(principal),
    };
  }

  #furtherEvents(
    subscriptions: () => Subscriptions,
    { label, isShared }: { readonly label: string; readonly isShared: boolean },
  ): LinkEvents {
    return {
      ...this.#commonEvents(),
      onReady: (connection) => {
        this.#parts().journal.connectedFor(label, connection);
        void this.#parts().logLevel.tell(connection);
        this.#renew(subscriptions(), connection);
      },
      onDown: (failure) => this.#parts().journal.down(failure),
      // All callers may see messages of a shared link. Messages of a client's own link go only to that client, during
      // its calls.
      onLog: (params) =>
        isShared
          ? this.#parts().events.log.emit({ params })
          : this.#deps.logger.debug("A log message of a session's own server belongs to no call.", {
              level: params["level"],
            }),
      onAsked: () => isShared && this.#asked(),
      onPlaced: (principal) => isShared && this.#parts().links.asked(principal),
    };
  }

  #commonEvents(): Pick<LinkEvents, "onListChanged" | "onResourceUpdated" | "onStderr" | "onMissing"> {
    return {
      onListChanged: (list) => this.#parts().listings.outdated(list),
      onResourceUpdated: (uri, params) => this.#parts().events.resourceUpdated.emit({ uri, params }),
      onStderr: (line) => this.#parts().journal.stderr.push(line),
      onMissing: (lines) => this.#parts().journal.stderr.forget(lines),
    };
  }

  #renew(subscriptions: Subscriptions, connection: Connection): void {
    subscriptions.renew(connection).catch((error: unknown) => {
      if (!this.#parts().isClosed()) this.#parts().journal.notSubscribed(error);
    });
  }

  #asked(): void {
    if (!this.#parts().memory.noteAsks()) return;
    this.#deps.logger.info(
      "The server sends requests to its callers; from now on, calls of different clients take turns.",
    );
  }
}
