import { CallMap } from "../core/call-map.ts";
import { cancellationOf, type Call } from "../core/call.ts";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/outcome.ts";
import { abortFailure } from "./faults.ts";

interface Waiting {
  readonly group: string;
  enter(): void;
}

/** Calls that may wait for their turn on one connection. */
const MAX_WAITING = 1000;

/**
 * Lets calls through side by side until the server is seen to ask; from then on one client at a time, since an ask on a shared
 * connection does not say whose it is. Calls of one lasting connection form one group and never wait for each other: their asks end at
 * the same client, and a client that answers an ask may have to call again to do so.
 */
export class Turns {
  readonly #waiting: Waiting[] = [];
  readonly #inside = new CallMap<string, number>();
  #serial: boolean;

  constructor(serial: boolean) {
    this.#serial = serial;
  }

  get isSerial(): boolean {
    return this.#serial;
  }

  serialise(): void {
    this.#serial = true;
  }

  /** Waits for the turn; the returned function ends it. Rejects with a `FailError` when the call ends first. */
  async enter(call: Call): Promise<() => void> {
    const group = call.client.connection ?? `call ${call.id}`;
    if (!this.#mayEnter(group)) await this.#wait(call, group);
    else this.#count(group, 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#count(group, -1);
      this.#admit();
    };
  }

  #mayEnter(group: string): boolean {
    if (!this.#serial || this.#inside.size === 0) return true;
    return this.#inside.size === 1 && this.#inside.has(group);
  }

  #count(group: string, by: 1 | -1): void {
    const count = (this.#inside.get(group) ?? 0) + by;
    if (count > 0) this.#inside.set(group, count);
    else this.#inside.delete(group);
  }

  #wait(call: Call, group: string): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      const message = `${MAX_WAITING} calls already wait for this server, which takes one client at a time because it asks its callers questions.`;
      return Promise.reject(new FailError(fail("limited", `${message} Try again later, or set isolation = "session".`)));
    }
    const signal = cancellationOf(call);
    if (signal.aborted) return Promise.reject(new FailError(abortFailure(signal)));
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(new FailError(abortFailure(signal)));
        this.#admit();
      };
      const entry: Waiting = {
        group,
        enter: () => {
          signal.removeEventListener("abort", onAbort);
          this.#count(group, 1);
          resolve();
        },
      };
      this.#waiting.push(entry);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#mayEnter(next.group); next = this.#waiting[0]) {
      this.#waiting.shift();
      next.enter();
    }
  }
}
