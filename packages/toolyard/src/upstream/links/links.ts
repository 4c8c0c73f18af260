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

/** The caller that needs a link. */
export type LinkCaller = Pick<Call, "principal" | "client">;

/** Link that a call requires. */
export interface LinkWish {
  /** Callers that the link serves. */
  readonly key: LinkKey;
  /** Capabilities declared to the server. */
  readonly capabilities: JsonObject;
  /** Era that suits the caller best. */
  readonly era: EraName | undefined;
  /** Name in `status`. Absent for the first link, which supplies the lists. */
  readonly label?: string;
}

export interface LinksOptions {
  readonly era: EraChoice;
  readonly isolation: "auto" | "shared" | "session";
  /** True if another connection needs no process, so that each era may have its own. */
  readonly opensCheaply: boolean;
  /** Condition under which a server of both eras gets a second process for legacy callers. */
  readonly legacyProcess: LegacyProcess;
  readonly maxSessions: number;
  readonly idleMs: number;
  open(wish: LinkWish): LinkPlace;
  /**
   * Facts about the server: whether it sends requests without naming a call, and whether it keeps state that a second
   * process would not have.
   */
  readonly memory: { readonly asks: boolean; readonly hasState: boolean };
  /**
   * Called if a call failed because the server could not send a request to its caller, and no second process may be
   * started.
   */
  onUnasked(): void;
  /** Called when the stored facts about the server change. */
  onVerdict(): void;
}

/**
 * Condition under which a server of both eras gets a second process, which can send requests to legacy callers. `auto`:
 * for calls that failed because the server could not send a request, unless the server keeps state. `always`: for every
 * legacy caller that accepts requests. `never`: the server has one process.
 */
export type LegacyProcess = "auto" | "always" | "never";

/** Facts about the eras of a server. */
export interface EraVerdict {
  readonly era?: EraName;
  /** Names and URIs whose calls failed because the server could not send a request to a legacy caller. */
  readonly asking?: readonly string[];
  /** Digest of the server info, if the server refused the legacy handshake. */
  readonly modernOnly?: string;
}

/** A link and its open connection. */
export interface ReachedLink {
  readonly link: Link;
  readonly connection: Connection;
}

type Owner = "first" | "legacy";

/** Maximum number of remembered names and URIs whose calls send requests to their callers. */
const MAX_ASKING = 500;
/** Pause after a legacy link could not be opened. */
const LEGACY_PAUSE_MS = 60_000;
const LEGACY: Purpose = Object.freeze({ key: LEGACY_CALLERS, label: "callers of the legacy era" });

/**
 * The links to one server, and the choice of link for each call. All calls use the first link if possible. A server of
 * both eras gets a second one: over HTTP for legacy callers, on stdio for calls that failed because the server could
 * not send a request to a legacy caller. A server that sends requests gets one link for each further principal. With
 * `isolation = "session"`, each lasting connection has its own.
 */
export class Links {
  readonly first: LinkPlace;
  readonly #options: LinksOptions;
  readonly #further: FurtherLinks;
  /** Principal to which each connection on which the server sent a request belongs. */
  readonly #holders = new Map<Owner, string>();
  #preferred: "legacy" | undefined;
  #era: EraName | undefined;
  /** Digest of the server info on the first link. */
  #identity: string | undefined;
  #legacyAgainAt = 0;
  readonly #asking = new Set<string>();
  /** Digest of the server info of the server that refused the legacy handshake. */
  #modernOnly: string | undefined;

  constructor(options: LinksOptions) {
    this.#options = options;
    this.#further = new FurtherLinks({ maxLinks: options.maxSessions, idleMs: options.idleMs });
    this.first = options.open({ key: EVERYBODY, capabilities: SHARED_CAPABILITIES, era: undefined });
  }

  /** Era of the first link, once known. */
  get era(): EraName | undefined {
    return this.#era;
  }

  /** The handshake that the first link tries first, because the first caller uses that era. */
  get preferred(): "legacy" | undefined {
    return this.#preferred;
  }

  /**
   * The facts about the server that are stored. An era that was only tried first because of a caller is not included.
   */
  get verdict(): EraVerdict {
    const asking = this.#asking.size > 0 ? { asking: Array.from(this.#asking) } : {};
    if (this.#era === undefined || this.#preferred !== undefined) return asking;
    return { era: this.#era, ...(this.#modernOnly !== undefined && { modernOnly: this.#modernOnly }), ...asking };
  }

  /** Restores facts that an earlier run stored. */
  recall({ era, modernOnly, asking = [] }: EraVerdict): void {
    for (const target of asking.slice(0, MAX_ASKING)) this.#asking.add(target);
    this.#era ??= era;
    this.#modernOnly ??= modernOnly;
    this.#identity ??= modernOnly;
  }

  /** Sets the era of the first caller. Call it before the first link is opened. */
  prefer(era: EraName): void {
    // The legacy handshake is tried first only on stdio: over HTTP each era has its own link, so the first link may use
    // either era.
    if (era === "legacy" && this.#options.era === "auto" && !this.#options.opensCheaply) this.#preferred = era;
  }

  /** Records that the first link is open. */
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
   * Returns the open connection for this caller, connecting first if needed. The first link's connection is returned
   * without a promise. Throws or rejects with a `FailError`.
   */
  reach(caller: LinkCaller, cancellation: Cancellation, request?: CallRequest): ReachedLink | Promise<ReachedLink> {
    const { link } = this.#placeFor(caller, request);
    const connection = link === this.first.link ? link.current : undefined;
    return connection ? { link, connection } : this.#open(caller, cancellation, request);
  }

  /**
   * Handles a failure that means that the server could not send a request to its caller. Returns true if the same call
   * may succeed over another link, which `reach` then returns.
   */
  couldNotAsk(link: Link, { client }: LinkCaller, request: CallRequest): boolean {
    const target = targetOf(request);
    if (link !== this.first.link || target === undefined || this.#options.opensCheaply) return false;
    if (!this.#mayUseLegacy(client) || !canBeAsked(client.capabilities)) return false;
    if (this.#options.legacyProcess === "never" || this.#options.memory.hasState) {
      this.#options.onUnasked();
      return false;
    }
    // A concurrent call has already failed for this reason, so the target is known.
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
    // The link is looked up again, because a concurrent call may have determined the era of the server.
    const next = this.#placeFor(caller, request).link;
    return next === link ? { link, connection } : { link: next, connection: await next.get(cancellation) };
  }

  /**
   * Returns the link for this caller's subscriptions: the link that its calls use, or the first link if only that
   * link's era supports subscriptions.
   */
  async subscribingFor(caller: LinkCaller, cancellation: Cancellation): Promise<LinkPlace> {
    const { connection } = await this.reach(caller, cancellation);
    const canSubscribe = objectMember(connection.era.capabilities, "resources")?.["subscribe"] === true;
    return canSubscribe ? this.#placeFor(caller) : this.first;
  }

  /**
   * Handles a server request to this principal on a shared link. The first principal that gets such a request keeps the
   * link.
   */
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
    const { isolation, memory } = this.#options;
    if (isolation === "session" && client.connection !== undefined)
      return this.#ownOf(client.connection, { principal, client });
    const owner = this.#era === "modern" && this.#wantsLegacy(client, request) ? "legacy" : "first";
    if (memory.asks && isolation === "auto" && !this.#mayShare(principal, owner))
      return this.#furtherOf({
        key: { for: "principal", principal: principal.id },
        label: `principal ${principal.id}`,
      });
    return owner === "first" ? this.first : this.#furtherOf(LEGACY);
  }

  /** Returns whether this call uses a legacy link although the first link is modern. */
  #wantsLegacy(client: Client, request: CallRequest | undefined): boolean {
    if (!this.#mayUseLegacy(client)) return false;
    const { opensCheaply, legacyProcess } = this.#options;
    if (opensCheaply) return client.era === "legacy" || canBeAsked(client.capabilities);
    if (!canBeAsked(client.capabilities)) return false;
    if (legacyProcess !== "auto") return legacyProcess === "always";
    if (this.#asking.size === 0 || request === undefined || this.#options.memory.hasState) return false;
    return this.#asking.has(targetOf(request) ?? "");
  }

  #mayUseLegacy(client: Client): boolean {
    if (this.#options.era !== "auto" || this.#era !== "modern" || this.#isModernOnly() || client.era === "modern")
      return false;
    return performance.now() >= this.#legacyAgainAt;
  }

  /**
   * Returns whether a principal may use this connection of a server that sends requests. One principal keeps the
   * connection; others leave it when their calls on it have ended.
   */
  #mayShare(principal: Principal, owner: Owner): boolean {
    const isOfLegacyEra = owner === "legacy" || this.#era === "legacy";
    if (!isOfLegacyEra) return true;
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
   * Makes calls use the first link for a limited time, after the legacy link could not be opened. Rethrows the error if
   * another link failed, the caller has cancelled, or the first link is not connected.
   */
  #instead(link: Link, error: unknown, cancellation: Cancellation): undefined {
    const isSecond = this.#further.find(LEGACY.key)?.link === link;
    if (!isSecond || cancellation.aborted || !this.first.link.current) throw error;
    this.#legacyAgainAt = performance.now() + LEGACY_PAUSE_MS;
  }

  /**
   * Records that the server answered only the modern handshake although the legacy one was tried first. The server then
   * needs no second link.
   */
  #noteRefusal(link: Link, { era }: Connection): void {
    if (era.name !== "modern" || this.#further.find(LEGACY.key)?.link !== link) return;
    this.#modernOnly = this.#identity;
    void this.#further.release(LEGACY.key);
    this.#options.onVerdict();
  }

  /**
   * Returns whether the server supports only the modern handshake. The server info is compared, because a new version
   * of the server may support the other one.
   */
  #isModernOnly(): boolean {
    return this.#modernOnly !== undefined && this.#modernOnly === this.#identity;
  }
}

/** Returns the target of a call: the name of a tool or prompt, or a URI. */
function targetOf({ params }: CallRequest): string | undefined {
  return stringMember(params, "name") ?? stringMember(params, "uri");
}
