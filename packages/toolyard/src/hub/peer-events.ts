import { createHmac } from "node:crypto";
import { exactCanonicalJson } from "../core/json/digest.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import type { Logger } from "../core/ports/ports.ts";
import type { HubEvents } from "../core/ports/hub-port.ts";
import type { ResourceUpdate } from "../core/sources/provider.ts";
import type { HubNotification, ResourceChange } from "../state/ports/hub-notifications.ts";
import type { HubState } from "../state/ports/store.ts";

interface PeerEventsParts {
  readonly state: HubState;
  readonly events: Pick<HubEvents, "resourceUpdated">;
  readonly logger: Pick<Logger, "warning">;
}

/** Sections and options in which hubs of one store may differ. */
const OWN_PATHS: ReadonlySet<string> = new Set([
  "audit",
  "logging",
  "server.host",
  "server.port",
  "server.public_url",
  "server.tls",
  "server.workers",
  "store.advertise",
  "telemetry.prometheus.listen",
]);
/**
 * Minimum milliseconds between two updates of one resource that are passed on from other hubs. Sources of several hubs
 * may report the same change, so updates within this time are passed on as one, at its end.
 */
const COLLECT_MS = 1000;
/** Maximum number of resources and of configurations that are remembered. */
const MAX_KNOWN = 1000;

/**
 * Exchanges events with the other hubs of a store, as long as this hub exists: updates of resources, and configurations
 * that differ. Changes of lists are not passed on, because each hub receives them from its own sources.
 */
export class PeerEvents {
  readonly #parts: PeerEventsParts;
  /** Times of the last updates, by URI. */
  readonly #updatedAt = new Map<string, number>();
  /** URIs with updates that are being collected. */
  readonly #collecting = new Set<string>();
  readonly #reported = new Set<string>();
  #digest = "";
  #isPassingOn = false;

  constructor(parts: PeerEventsParts) {
    this.#parts = parts;
    parts.events.resourceUpdated.on((update) => this.#updated(update));
    parts.state.notifications.on((notification) => this.#received(notification));
  }

  /** Reports the configuration of this hub to the others. */
  configured(tree: object): void {
    const { state } = this.#parts;
    this.#digest = createHmac("sha256", state.secret)
      .update(exactCanonicalJson(sharedPart(tree)))
      .digest("hex");
    state.peers?.announce({ configuration: this.#digest });
    this.#publishDigest();
  }

  #publishDigest(): void {
    const { hub, notifications } = this.#parts.state;
    notifications.publish({ type: "configuration", hub, digest: this.#digest });
  }

  /**
   * Passes an update to the other hubs, except an update for one principal: it concerns only that principal's
   * connection to this hub.
   */
  #updated({ uri, params, principal }: ResourceUpdate): void {
    if (this.#isPassingOn || principal !== undefined) return;
    this.#note(uri);
    const { hub, notifications } = this.#parts.state;
    notifications.publish({ type: "resource-updated", hub, update: { uri, params } });
  }

  #received(notification: HubNotification): void {
    if (!("hub" in notification) || notification.hub === this.#parts.state.hub) return;
    if (notification.type === "configuration") this.#compare(notification.hub, notification.digest);
    else this.#passOn(notification.update);
  }

  #note(uri: string): void {
    if (this.#updatedAt.size >= MAX_KNOWN) this.#updatedAt.clear();
    this.#updatedAt.set(uri, performance.now());
  }

  #passOn(update: ResourceChange): void {
    const { uri } = update;
    if (this.#collecting.has(uri)) return;
    const waitMs = (this.#updatedAt.get(uri) ?? -Infinity) + COLLECT_MS - performance.now();
    if (waitMs <= 0 || this.#collecting.size >= MAX_KNOWN) return this.#emit(update);
    this.#collecting.add(uri);
    setTimeout(() => {
      this.#collecting.delete(uri);
      this.#emit(update);
    }, waitMs).unref();
  }

  #emit({ uri, params }: ResourceChange): void {
    this.#note(uri);
    this.#isPassingOn = true;
    this.#parts.events.resourceUpdated.emit({ uri, params });
    this.#isPassingOn = false;
  }

  /**
   * Logs once that another hub has a different configuration. Publishes the digest of this hub again, so that the other
   * hub logs the difference too.
   */
  #compare(hub: string, digest: string): void {
    const pair = `${hub} ${digest} ${this.#digest}`;
    if (digest === this.#digest || this.#digest === "" || this.#reported.has(pair)) return;
    if (this.#reported.size >= MAX_KNOWN) this.#reported.clear();
    this.#reported.add(pair);
    this.#parts.logger.warning(
      "Another hub of the store has another configuration, so its answers may differ. Give all hubs the same one.",
      { hub },
    );
    this.#publishDigest();
  }
}

/**
 * Returns the part of a configuration that all hubs of a store share. `place`: path of `tree` with a final dot, or "".
 */
function sharedPart(tree: object, place = ""): JsonObject {
  const shared = Object.entries(tree).filter(([name]) => !OWN_PATHS.has(place + name));
  return Object.fromEntries(
    shared.map(([name, value]: [string, unknown]) => [
      name,
      isJsonObject(value) ? sharedPart(value, `${place}${name}.`) : value,
    ]),
  );
}
