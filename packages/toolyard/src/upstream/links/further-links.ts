import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type Fail } from "../../core/calls/outcome.ts";
import { linkHolder, linkKeyText, type LinkKey } from "../../core/calls/link-key.ts";
import { Shares, type Holder } from "../../core/fairness/shares.ts";
import type { Link } from "./link.ts";
import type { Subscriptions } from "../connection/subscriptions.ts";

/** One link to a server, with the subscriptions over it. */
export interface LinkPlace {
  readonly link: Link;
  readonly subscriptions: Subscriptions;
}

/** Key of an additional link, and its name. */
export interface Purpose {
  readonly key: LinkKey;
  /** Name in `status` and in the log. */
  readonly label: string;
}

/** Values that identify a link. */
type KnownBy = Parameters<typeof linkKeyText>[0];

export interface FurtherLinksOptions {
  readonly maxLinks: number;
  /** Time without use after which a link ends. */
  readonly idleMs: number;
}

interface LinkEntry extends LinkPlace {
  readonly purpose: Purpose;
  /** Holder whose share contains the link. Undefined if the link does not count towards the limit. */
  readonly holder: Holder | undefined;
  usedAt: number;
}

interface BoundedEntry extends LinkEntry {
  readonly holder: Holder;
}

/**
 * Links to one server in addition to the first: opened on demand, limited in number, closed when idle or when their
 * user disconnects.
 */
export class FurtherLinks {
  readonly #options: FurtherLinksOptions;
  readonly #entries = new Map<string, LinkEntry>();
  readonly #shares = new Shares();
  readonly #ending = new Set<Promise<void>>();
  #sweep: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: FurtherLinksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  all(): Link[] {
    return Array.from(this.#entries.values(), ({ link }) => link);
  }

  find(key: KnownBy): LinkPlace | undefined {
    return this.#entries.get(linkKeyText(key));
  }

  /**
   * Returns the link for a purpose. Throws a `FailError` of kind `limited` if the limit is reached and no holder
   * exceeds its share.
   */
  get(purpose: Purpose, open: () => LinkPlace): LinkPlace {
    const entry = this.#entries.get(linkKeyText(purpose.key)) ?? this.#open(purpose, open);
    entry.usedAt = performance.now();
    return entry;
  }

  /** Closes a link; calls in flight on it end with `failure`. */
  async release(key: KnownBy, failure?: Fail): Promise<void> {
    const text = linkKeyText(key);
    const entry = this.#entries.get(text);
    if (!entry) return;
    this.#entries.delete(text);
    if (entry.holder) this.#shares.remove(entry.holder);
    const ending = entry.link.close(failure);
    this.#ending.add(ending);
    await ending.finally(() => this.#ending.delete(ending));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    for (const { purpose } of Array.from(this.#entries.values())) void this.release(purpose.key);
    await Promise.all(this.#ending);
  }

  /** Returns the facts of each link for `status`. */
  describe(): JsonObject[] {
    return Array.from(this.#entries.values(), ({ purpose, link }) => {
      const { pid, era } = link.current?.describe() ?? {};
      return {
        for: purpose.label,
        state: link.state,
        ...(era !== undefined && { era }),
        ...(pid !== undefined && { pid }),
      };
    });
  }

  #open(purpose: Purpose, open: () => LinkPlace): LinkEntry {
    const { maxLinks, idleMs } = this.#options;
    if (this.#isClosed) throw new FailError(fail("unavailable", "This source was closed.", { retryable: false }));
    const holder = linkHolder(purpose.key);
    if (holder && this.#bounded().length >= maxLinks) this.#makeRoomFor(holder);
    const entry: LinkEntry = { ...open(), purpose, holder, usedAt: performance.now() };
    this.#entries.set(linkKeyText(purpose.key), entry);
    if (holder) this.#shares.add(holder);
    if (!this.#sweep) {
      this.#sweep = setInterval(() => this.#endIdle(), Math.max(50, idleMs / 4));
      this.#sweep.unref();
    }
    return entry;
  }

  #bounded(): BoundedEntry[] {
    return Array.from(this.#entries.values()).filter(isBounded);
  }

  #makeRoomFor(newcomer: Holder): void {
    const all = this.#bounded().toSorted((one, other) => one.usedAt - other.usedAt);
    const debtor =
      this.#shares.debtorTo(newcomer, all.filter(isIdle), { holder: holderIn, isIdle: true }) ??
      this.#shares.debtorTo(newcomer, all, { holder: holderIn });
    if (debtor) return void this.release(debtor.purpose.key, CROWDED_OUT);
    const message =
      `${this.#options.maxLinks} clients use this source at present, each with its own server, ` +
      "which is the limit.";
    throw new FailError(fail("limited", `${message} Try again later, or raise \`max_sessions\`.`));
  }

  #endIdle(): void {
    const oldest = performance.now() - this.#options.idleMs;
    for (const entry of this.#entries.values()) {
      if (entry.usedAt <= oldest && isIdle(entry)) void this.release(entry.purpose.key);
    }
    if (this.#entries.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

const CROWDED_OUT = fail(
  "limited",
  "This caller has too many connections to this source; this one was closed to make room for other callers.",
);

function isBounded(entry: LinkEntry): entry is BoundedEntry {
  return entry.holder !== undefined;
}

function holderIn({ holder }: BoundedEntry): Holder {
  return holder;
}

function isIdle({ link, subscriptions }: LinkPlace): boolean {
  return link.state !== "connecting" && link.current?.isInUse !== true && subscriptions.size === 0;
}
