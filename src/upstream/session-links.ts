import type { Client } from "../core/call.ts";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/outcome.ts";
import type { Link } from "./link.ts";

export interface SessionLinksOptions {
  readonly maxSessions: number;
  /** A session's own server ends after this long without use. */
  readonly idleMs: number;
  open(client: Client): Link;
}

interface Entry {
  readonly link: Link;
  usedAt: number;
}

/** One link for each lasting connection of a caller, bounded in number, ended with the connection or when it is idle. */
export class SessionLinks {
  readonly #options: SessionLinksOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #ending = new Set<Promise<void>>();
  #sweep: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SessionLinksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  all(): Link[] {
    return [...this.#entries.values()].map(({ link }) => link);
  }

  find(connection: string): Link | undefined {
    return this.#entries.get(connection)?.link;
  }

  /** Throws a `FailError` of kind `limited` when there are too many and none is idle. */
  get(connection: string, client: Client): Link {
    const entry = this.#entries.get(connection) ?? this.#open(connection, client);
    entry.usedAt = performance.now();
    return entry.link;
  }

  async release(connection: string): Promise<void> {
    const entry = this.#entries.get(connection);
    if (!entry) return;
    this.#entries.delete(connection);
    const ending = entry.link.close();
    this.#ending.add(ending);
    await ending.finally(() => this.#ending.delete(ending));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    for (const connection of this.#entries.keys()) void this.release(connection);
    await Promise.all(this.#ending);
  }

  #open(connection: string, client: Client): Entry {
    const { maxSessions, idleMs, open } = this.#options;
    if (this.#isClosed) throw new FailError(fail("unavailable", "This source was closed.", { retryable: false }));
    if (this.#entries.size >= maxSessions) this.#makeRoom(maxSessions);
    const entry: Entry = { link: open(client), usedAt: performance.now() };
    this.#entries.set(connection, entry);
    if (!this.#sweep) {
      this.#sweep = setInterval(() => this.#endIdle(), Math.max(50, idleMs / 4));
      this.#sweep.unref();
    }
    return entry;
  }

  #makeRoom(maxSessions: number): void {
    const idle = [...this.#entries].filter(([, { link }]) => isIdle(link)).toSorted(([, first], [, second]) => first.usedAt - second.usedAt)[0];
    if (idle) return void this.release(idle[0]);
    const message = `${maxSessions} clients use this source at once, each with a server of its own, and that is its bound.`;
    throw new FailError(fail("limited", `${message} Try again later, or raise \`max_sessions\`.`));
  }

  #endIdle(): void {
    const oldest = performance.now() - this.#options.idleMs;
    for (const [connection, { link, usedAt }] of this.#entries) {
      if (usedAt <= oldest && isIdle(link)) void this.release(connection);
    }
    if (this.#entries.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

function isIdle(link: Link): boolean {
  return link.state !== "connecting" && (link.current?.callsInFlight ?? 0) === 0;
}
