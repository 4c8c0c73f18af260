import { FailError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { fail } from "../core/outcome.ts";
import type { Link } from "./link.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** One link to a server, with what is subscribed to over it. */
export interface LinkPlace {
  readonly link: Link;
  readonly subscriptions: Subscriptions;
}

/** Whom a further link is for. */
export interface Purpose {
  readonly key: string;
  /** As `status` and the log say it. */
  readonly label: string;
  /** Whether it counts against the bound. */
  readonly isBounded: boolean;
}

export interface FurtherLinksOptions {
  readonly maxLinks: number;
  /** A link ends after this long without use. */
  readonly idleMs: number;
}

interface Entry extends LinkPlace {
  readonly purpose: Purpose;
  usedAt: number;
}

/**
 * Links to one server beside its first: made when they are needed, bounded in number, ended when idle or when their
 * user has gone.
 */
export class FurtherLinks {
  readonly #options: FurtherLinksOptions;
  readonly #entries = new Map<string, Entry>();
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

  find(key: string): LinkPlace | undefined {
    return this.#entries.get(key);
  }

  /** Throws a `FailError` of kind `limited` when there are too many and none is idle. */
  get(purpose: Purpose, open: () => LinkPlace): LinkPlace {
    const entry = this.#entries.get(purpose.key) ?? this.#open(purpose, open);
    entry.usedAt = performance.now();
    return entry;
  }

  async release(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    const ending = entry.link.close();
    this.#ending.add(ending);
    await ending.finally(() => this.#ending.delete(ending));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    for (const key of Array.from(this.#entries.keys())) void this.release(key);
    await Promise.all(this.#ending);
  }

  /** What `status` shows of each. */
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

  #open(purpose: Purpose, open: () => LinkPlace): Entry {
    const { maxLinks, idleMs } = this.#options;
    if (this.#isClosed) throw new FailError(fail("unavailable", "This source was closed.", { retryable: false }));
    if (purpose.isBounded && this.#bounded().length >= maxLinks) this.#makeRoom(maxLinks);
    const entry: Entry = { ...open(), purpose, usedAt: performance.now() };
    this.#entries.set(purpose.key, entry);
    if (!this.#sweep) {
      this.#sweep = setInterval(() => this.#endIdle(), Math.max(50, idleMs / 4));
      this.#sweep.unref();
    }
    return entry;
  }

  #bounded(): [string, Entry][] {
    return Array.from(this.#entries).filter(([, { purpose }]) => purpose.isBounded);
  }

  #makeRoom(maxLinks: number): void {
    const idle = this.#bounded()
      .filter(([, entry]) => isIdle(entry))
      .toSorted(([, first], [, second]) => first.usedAt - second.usedAt)[0];
    if (idle) return void this.release(idle[0]);
    const message = `${maxLinks} clients use this source at once, each with a server of its own, and that is its bound.`;
    throw new FailError(fail("limited", `${message} Try again later, or raise \`max_sessions\`.`));
  }

  #endIdle(): void {
    const oldest = performance.now() - this.#options.idleMs;
    for (const [key, entry] of this.#entries) {
      if (entry.usedAt <= oldest && isIdle(entry)) void this.release(key);
    }
    if (this.#entries.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

function isIdle({ link, subscriptions }: LinkPlace): boolean {
  return link.state !== "connecting" && link.current?.isInUse !== true && subscriptions.size === 0;
}
