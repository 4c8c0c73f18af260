import type { Call, Principal } from "../../core/calls/call.ts";
import { Emitter } from "../../core/events.ts";
import { FailError } from "../../core/errors.ts";
import { EVERYBODY, type LinkKey } from "../../core/calls/link-key.ts";
import { fail, type Outcome } from "../../core/calls/outcome.ts";
import type {
  ColdStart,
  ListingRequest,
  Provider,
  ProviderEvents,
  ProviderStatus,
  ResolvedCall,
} from "../../core/sources/provider.ts";
import type { Listing, Source } from "../../core/sources/records.ts";

export interface PerCallerDeps {
  readonly source: Source;
  /** Opens the source for one principal. Without a principal, opens the anonymous connection. */
  readonly open: (principal: string | undefined) => Provider;
}

/** Maximum number of principals with an open provider; a further one replaces the least recently used. */
const MAX_PEOPLE = 256;

interface Person {
  readonly provider: Provider;
  readonly stop: () => void;
  /** Number of running calls and subscriptions. */
  uses: number;
}

/**
 * One server with a separate provider for each principal: connections, lists, tokens, circuits and stored data are
 * personal. A principal that has not signed in uses the anonymous connection.
 */
export class PerCallerProvider implements Provider {
  readonly source: Source;
  readonly events: Required<ProviderEvents> = {
    changed: new Emitter(),
    announced: new Emitter(),
    resourceUpdated: new Emitter(),
    log: new Emitter(),
  };
  readonly #deps: PerCallerDeps;
  readonly #nobody: Provider;
  /** Principals in the order of use; the most recently used is last. */
  readonly #people = new Map<string, Person>();
  readonly #ending = new Set<Promise<void>>();
  #logLevel: string | undefined;
  #isClosed = false;

  constructor(deps: PerCallerDeps) {
    this.#deps = deps;
    this.source = deps.source;
    this.#nobody = deps.open(undefined);
    this.#nobody.events.changed.on(() => this.events.changed.emit());
    this.#nobody.events.announced?.on((announcement) => this.events.announced.emit(announcement));
  }

  open(): void {
    this.#nobody.open();
  }

  linkFor({ id }: Principal): LinkKey {
    return { for: "principal", principal: id };
  }

  serverFor({ id }: Principal): object {
    return this.#people.get(id)?.provider ?? {};
  }

  listing(wish: ListingRequest = {}): Listing | Promise<Listing> {
    return this.#behind(wish.link).listing(wish);
  }

  coldStart(link?: LinkKey): ColdStart | undefined {
    return this.#behind(link).coldStart?.();
  }

  /** Refreshes the anonymous connection and all open providers. */
  async refresh(signal: AbortSignal): Promise<void> {
    const own = Array.from(this.#people.values(), ({ provider }) => provider.refresh?.(signal));
    // A failure for one principal, such as a missing sign-in, must not prevent the refresh for the others.
    const [first, ...others] = await Promise.allSettled([...own, this.#nobody.refresh?.(signal)]);
    const failed = [first, ...others].filter((one) => one?.status === "rejected");
    if (failed.length === others.length + 1) throw failed[0]!.reason;
  }

  async call(call: ResolvedCall): Promise<Outcome> {
    if (this.#isClosed) return fail("unavailable", "This source was closed.", { retryable: false });
    try {
      const person = this.#personOf(call.principal.id);
      person.uses += 1;
      return await person.provider.call(call).finally(() => void (person.uses -= 1));
    } catch (error) {
      if (error instanceof FailError) return error.failure;
      throw error;
    }
  }

  async subscribe(uri: string, caller: Pick<Call, "principal" | "client">): Promise<() => Promise<void>> {
    const person = this.#personOf(caller.principal.id);
    person.uses += 1;
    try {
      const release = await person.provider.subscribe!(uri, caller);
      return () => release().finally(() => void (person.uses -= 1));
    } catch (error) {
      person.uses -= 1;
      throw error;
    }
  }

  async setLogLevel(level: string): Promise<void> {
    this.#logLevel = level;
    await Promise.all(Array.from(this.#people.values(), ({ provider }) => provider.setLogLevel?.(level)));
  }

  rootsChanged(connection: string): void {
    for (const { provider } of this.#people.values()) provider.rootsChanged?.(connection);
  }

  release(connection: string): void {
    for (const { provider } of this.#people.values()) provider.release?.(connection);
  }

  /**
   * Returns the status of the anonymous connection, and the number of principals with their own connection. Contains no
   * data about a single principal.
   */
  status(): ProviderStatus {
    const status = this.#nobody.status();
    const states = Array.from(this.#people.values(), ({ provider }) => provider.status().state);
    const ready = states.filter((state) => state === "ready").length;
    const info = { ...status.info, credentials: "per-caller", people: states.length, ready };
    if (status.state !== "needs_authorisation" || ready === 0) return { ...status, info };
    const { lastError: _, ...rest } = status;
    return { ...rest, state: "ready", info };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const id of Array.from(this.#people.keys())) this.#end(id);
    await Promise.all([this.#nobody.close(), ...this.#ending]);
  }

  /** Returns the provider of this principal. */
  providerOf({ id }: Pick<Principal, "id">): Provider {
    return this.#isClosed ? this.#nobody : this.#personOf(id).provider;
  }

  #behind(link: LinkKey = EVERYBODY): Provider {
    return link.for === "principal" ? this.providerOf({ id: link.principal }) : this.#nobody;
  }

  #personOf(id: string): Person {
    const person = this.#people.get(id) ?? this.#create(id);
    this.#people.delete(id);
    this.#people.set(id, person);
    return person;
  }

  #create(id: string): Person {
    if (this.#people.size >= MAX_PEOPLE) this.#makeRoom();
    const provider = this.#deps.open(id);
    const owner = { principal: id };
    const stops = [
      provider.events.changed.on(() => this.events.changed.emit()),
      provider.events.announced?.on((announcement) => this.events.announced.emit({ ...announcement, ...owner })) ??
        (() => {}),
      provider.events.resourceUpdated.on((update) => this.events.resourceUpdated.emit({ ...update, ...owner })),
      provider.events.log.on((message) => this.events.log.emit({ ...message, ...owner })),
    ];
    provider.open();
    if (this.#logLevel !== undefined) void provider.setLogLevel?.(this.#logLevel);
    return { provider, stop: () => stops.forEach((stop) => stop()), uses: 0 };
  }

  /** Closes the least recently used provider if there are too many. Providers with running work are kept. */
  #makeRoom(): void {
    const idle = Array.from(this.#people).find(([, { uses }]) => uses === 0);
    if (idle) return this.#end(idle[0]);
    const message = `${MAX_PEOPLE} users use this source at present, which is its limit. Try again later.`;
    throw new FailError(fail("limited", message, { retryAfterMs: 1000 }));
  }

  #end(id: string): void {
    const { provider, stop } = this.#people.get(id)!;
    this.#people.delete(id);
    stop();
    const ending = provider.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
