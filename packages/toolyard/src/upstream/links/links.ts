import { stringifyExact } from "../../core/json/exact-json.ts";
import type { Call, Client, Principal } from "../../core/calls/call.ts";
import type { Cancellation } from "../../core/calls/cancellation.ts";
import { contentDigest } from "../../core/json/digest.ts";
import { objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";
import { EVERYBODY, LEGACY_CALLERS, type LinkKey } from "../../core/calls/link-key.ts";
import { canBeAsked, sessionCapabilities, SHARED_CAPABILITIES } from "../connection/capabilities.ts";
import type { CallRequest, Connection } from "../connection/connection.ts";
import type { Era, EraChoice, EraName } from "../connection/era.ts";
import { FurtherLinks, type LinkPlace, type Purpose } from "./further-links.ts";
import type { Link } from "./link.ts";

/** For whom a link is wanted. */
export type LinkCaller = Pick<Call, "principal" | "client">;

/** How a link is to be made. */
export interface LinkWish {
  /** For whom it is. */
  readonly key: LinkKey;
  /** What is declared to the server. */
  readonly capabilities: JsonObject;
  /** The handshake of this era suits the caller best. */
  readonly era: EraName | undefined;
  /** Absent: the first link, from which the lists come. */
  readonly label?: string;
}

export interface LinksOptions {
  readonly era: EraChoice;
  readonly isolation: "auto" | "shared" | "session";
  /** A further connection costs no process, so each era may have its own. */
  readonly opensCheaply: boolean;
  /** When a server of both eras gets a second process for callers of the legacy era. */
  readonly legacyProcess: LegacyProcess;
  readonly maxSessions: number;
  readonly idleMs: number;
  open(wish: LinkWish): LinkPlace;
  /** The server was seen to ask without saying whom. */
  asks(): boolean;
  /** The server was seen to keep state that a second process would not have. */
  hasState(): boolean;
  /** A call failed because the server could not ask its caller, and no second process may be started for it. */
  onUnasked(): void;
  /** What may be remembered of the server has changed. */
  onVerdict(): void;
}

/**
 * When a server of both eras gets a second process, so that it can ask legacy callers. `auto`: for what was seen to
 * fail because the server could not ask, unless the server keeps state. `always`: for every legacy caller that can be
 * asked. `never`: one process.
 */
export type LegacyProcess = "auto" | "always" | "never";

/** What is known of the eras of a server. */
export interface EraVerdict {
  readonly era?: EraName;
  /** Names and URIs whose calls failed because the server could not ask a legacy caller. */
  readonly asking?: readonly string[];
  /** Digest of what the server says that it is, if it was seen to refuse the legacy handshake. */
  readonly modernOnly?: string;
}

/** A link and the open connection behind it. */
export interface ReachedLink {
  readonly link: Link;
  readonly connection: Connection;
}

type Owner = "first" | "legacy";

/** Names and URIs that are remembered as asking their callers. */
const MAX_ASKING = 500;
/** How long a link of the legacy era that could not be opened is not tried again. */
const LEGACY_PAUSE_MS = 60_000;
const LEGACY: Purpose = Object.freeze({ key: LEGACY_CALLERS, label: "callers of the legacy era" });

/**
 * The links to one server, and which of them a call uses. All calls go over the first link if possible. A server of
 * both eras gets a second one: over HTTP for legacy callers, on stdio for calls that were seen to fail because the
 * server could not ask a legacy caller. A server that asks gets one for each further principal. With
 * `isolation = "session"` each lasting connection has its own.
 */
export class Links {
  readonly first: LinkPlace;
  readonly #options: LinksOptions;
  readonly #further: FurtherLinks;
  /** Who keeps a connection on which the server asked. */
  readonly #holders = new Map<Owner, string>();
  #preferred: "legacy" | undefined;
  #era: EraName | undefined;
  /** What the server on the first link says that it is. */
  #identity: string | undefined;
  #legacyAgainAt = 0;
  readonly #asking = new Set<string>();
  /** The one that was seen to refuse the legacy handshake. */
  #modernOnly: string | undefined;

  constructor(options: LinksOptions) {
    this.#options = options;
    this.#further = new FurtherLinks({ maxLinks: options.maxSessions, idleMs: options.idleMs });
    this.first = options.open({ key: EVERYBODY, capabilities: SHARED_CAPABILITIES, era: undefined });
  }

  /** Of the first link, as far as it is known. */
  get era(): EraName | undefined {
    return this.#era;
  }

  /** The handshake that the first link tries first, since the first caller speaks that era. */
  get preferred(): "legacy" | undefined {
    return this.#preferred;
  }

  /** What may be remembered of the server: not an era that was tried first for a caller's sake. */
  get verdict(): EraVerdict {
    const asking = this.#asking.size > 0 ? { asking: Array.from(this.#asking) } : {};
    if (this.#era === undefined || this.#preferred !== undefined) return asking;
    return { era: this.#era, ...(this.#modernOnly !== undefined && { modernOnly: this.#modernOnly }), ...asking };
  }

  /** What is remembered of an earlier run. */
  recall({ era, modernOnly, asking = [] }: EraVerdict): void {
    for (const target of asking.slice(0, MAX_ASKING)) this.#asking.add(target);
    this.#era ??= era;
    this.#modernOnly ??= modernOnly;
    this.#identity ??= modernOnly;
  }

  /** How the first caller speaks. Only before the first link was opened. */
  prefer(era: EraName): void {
    // The modern handshake is tried first in any case. Over HTTP each era has a link of its own, so there the first one
    // may be of either.
    if (era === "legacy" && this.#options.era === "auto" && !this.#options.opensCheaply) this.#preferred = era;
  }

  /** The first link is open. */
  opened({ name, serverInfo }: Era): void {
    this.#era = name;
    this.#identity = contentDigest(stringifyExact(serverInfo));
  }

  all(): Link[] {
    return [this.first.link, ...this.#further.all()];
  }

  find(connection: string): Link | undefined {
    return this.#further.find({ for: "connection", connection })?.link;
  }

  /**
   * Returns the open connection that this caller uses, connecting first if needed; the first link's connection is
   * returned without a promise. Throws or rejects with a `FailError`.
   */
  reach(caller: LinkCaller, cancellation: Cancellation, request?: CallRequest): ReachedLink | Promise<ReachedLink> {
    const { link } = this.#placeFor(caller, request);
    const connection = link === this.first.link ? link.current : undefined;
    return connection ? { link, connection } : this.#open(caller, cancellation, request);
  }

  /**
   * Takes a failure by which a server says that it could not ask its caller. Returns whether the same call may succeed
   * over another link, which `reach` then returns.
   */
  couldNotAsk(link: Link, { client }: LinkCaller, request: CallRequest): boolean {
    const target = targetOf(request);
    if (link !== this.first.link || target === undefined || this.#options.opensCheaply) return false;
    if (!this.#mayUseLegacy(client) || !canBeAsked(client.capabilities)) return false;
    if (this.#options.legacyProcess === "never" || this.#options.hasState()) {
      this.#options.onUnasked();
      return false;
    }
    // Calls that were under way together fail together.
    if (this.#asking.has(target)) return true;
    if (this.#asking.size >= MAX_ASKING) return false;
    this.#asking.add(target);
    this.#options.onVerdict();
    return true;
  }

  async #open(caller: LinkCaller, cancellation: Cancellation, request?: CallRequest): Promise<ReachedLink> {
    const era = this.#era;
    const { link } = this.#placeFor(caller, request);
    const connection = await link.get(cancellation).catch((error: unknown) => this.#instead(link, error, cancellation));
    if (connection === undefined) return this.#open(caller, cancellation, request);
    if (link === this.first.link && era === this.#era) return { link, connection };
    this.#noteRefusal(link, connection);
    // What the server speaks is known by now for the first time, or better than before, be it by a call beside this
    // one.
    const next = this.#placeFor(caller, request).link;
    return next === link ? { link, connection } : { link: next, connection: await next.get(cancellation) };
  }

  /**
   * Where this caller's subscriptions are kept: on its own link, or on the first where only that era of the server has
   * them.
   */
  async subscribingFor(caller: LinkCaller, cancellation: Cancellation): Promise<LinkPlace> {
    const { connection } = await this.reach(caller, cancellation);
    const canSubscribe = objectMember(connection.era.capabilities, "resources")?.["subscribe"] === true;
    return canSubscribe ? this.#placeFor(caller) : this.first;
  }

  /** The server asked a caller of this principal on one of the shared links: whoever is asked first keeps it. */
  asked(principal: string): void {
    for (const owner of ["first", "legacy"] as const) {
      const isThere = this.#linkOf(owner)?.current?.principals.includes(principal) ?? false;
      if (isThere && !this.#holders.has(owner)) this.#holders.set(owner, principal);
    }
  }

  release(connection: string): void {
    void this.#further.release({ for: "connection", connection });
  }

  describe(): JsonObject[] {
    return this.#further.describe();
  }

  async close(): Promise<void> {
    await Promise.all([this.first.link.close(), this.#further.close()]);
  }

  #placeFor({ principal, client }: LinkCaller, request?: CallRequest): LinkPlace {
    const { isolation } = this.#options;
    if (isolation === "session" && client.connection !== undefined)
      return this.#ownOf(client.connection, { principal, client });
    const owner = this.#wantsLegacy(client, request) ? "legacy" : "first";
    if (isolation === "auto" && !this.#mayShare(principal, owner))
      return this.#furtherOf({
        key: { for: "principal", principal: principal.id },
        label: `principal ${principal.id}`,
      });
    return owner === "first" ? this.first : this.#furtherOf(LEGACY);
  }

  /** Whether this call goes over a link of the legacy era although the first link is of the modern era. */
  #wantsLegacy(client: Client, request: CallRequest | undefined): boolean {
    if (!this.#mayUseLegacy(client)) return false;
    const { opensCheaply, legacyProcess } = this.#options;
    if (opensCheaply) return client.era === "legacy" || canBeAsked(client.capabilities);
    if (!canBeAsked(client.capabilities)) return false;
    if (legacyProcess !== "auto") return legacyProcess === "always";
    if (this.#asking.size === 0 || request === undefined || this.#options.hasState()) return false;
    return this.#asking.has(targetOf(request) ?? "");
  }

  #mayUseLegacy(client: Client): boolean {
    if (this.#options.era !== "auto" || this.#era !== "modern" || this.#isModernOnly() || client.era === "modern")
      return false;
    return performance.now() >= this.#legacyAgainAt;
  }

  /**
   * On a server that asks, one principal keeps the connection; others leave it once nothing of theirs is under way
   * there.
   */
  #mayShare(principal: Principal, owner: Owner): boolean {
    const isOfLegacyEra = owner === "legacy" || this.#era === "legacy";
    if (!isOfLegacyEra || !this.#options.asks()) return true;
    const busy = this.#linkOf(owner)?.current?.principals ?? [];
    if (!this.#holders.has(owner) && busy.length === 0) this.#holders.set(owner, principal.id);
    return this.#holders.get(owner) === principal.id || busy.includes(principal.id);
  }

  #linkOf(owner: Owner): Link | undefined {
    return owner === "first" ? this.first.link : this.#further.find(LEGACY.key)?.link;
  }

  #ownOf(connection: string, { principal, client }: LinkCaller): LinkPlace {
    const wish = {
      capabilities: sessionCapabilities(client.capabilities),
      era: this.#isModernOnly() || client.era === "modern" ? this.#era : client.era,
    };
    const purpose: Purpose = {
      key: { for: "connection", principal: principal.id, connection },
      label: client.name === undefined ? "one client" : `client ${client.name}`,
    };
    return this.#further.get(purpose, () => this.#options.open({ ...wish, ...purpose }));
  }

  #furtherOf(purpose: Purpose): LinkPlace {
    return this.#further.get(purpose, () =>
      this.#options.open({ ...purpose, capabilities: SHARED_CAPABILITIES, era: "legacy" }),
    );
  }

  /**
   * A server that serves the first link and cannot be opened in the legacy era, whatever the reason, is used over the
   * first one for a while.
   */
  #instead(link: Link, error: unknown, cancellation: Cancellation): undefined {
    const isSecond = this.#further.find(LEGACY.key)?.link === link;
    if (!isSecond || cancellation.aborted || !this.first.link.current) throw error;
    this.#legacyAgainAt = performance.now() + LEGACY_PAUSE_MS;
  }

  /**
   * Where the legacy handshake was tried first, and the server answered the modern one only, nobody needs the second
   * link.
   */
  #noteRefusal(link: Link, { era }: Connection): void {
    if (era.name !== "modern" || this.#further.find(LEGACY.key)?.link !== link) return;
    this.#modernOnly = this.#identity;
    void this.#further.release(LEGACY.key);
    this.#options.onVerdict();
  }

  /** Another version of the server may have learnt the other handshake. */
  #isModernOnly(): boolean {
    return this.#modernOnly !== undefined && this.#modernOnly === this.#identity;
  }
}

/** What a call is made of: the name of a tool or prompt, or a URI. */
function targetOf({ params }: CallRequest): string | undefined {
  return stringMember(params, "name") ?? stringMember(params, "uri");
}
