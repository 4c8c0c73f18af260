import { CallMap } from "../../core/calls/call-map.ts";
import { cancellationOf, type Call } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { abortFailure } from "../../core/timing/wait.ts";
import { clientKey } from "./calls-in-flight.ts";

/** Calls that may wait for their turn on one connection. */
const MAX_WAITING = 1000;
/** A client of which each call has a question open gives its turn up when no further one came for this long. */
export const QUIET_MS = 50;
/** A call that has waited this long is overtaken by none that came after it. */
const OVERTAKEN_MS = 10_000;
/** An answer, and a call that may be needed for one, waits this long for the turn and then goes on without it. */
const TURN_WAIT_MS = 1000;

interface TurnClient {
  readonly key: string;
  readonly principal: string;
  /** Calls of it that were let in and are not over. */
  calls: number;
  /** Questions that it has to answer. */
  questions: number;
  /** It only waits for people; somebody else may run. */
  hasYielded: boolean;
  quiet: NodeJS.Timeout | undefined;
}

interface QueuedTurn {
  readonly key: string;
  readonly principal: string;
  readonly since: number;
  enter(): void;
}

/**
 * Lets calls through side by side until the server is seen to ask; from then on one client at a time, since a question
 * on a shared connection does not say whose it is. Calls of one client never wait for each other: their questions end
 * at the same client, and a client may have to call again to answer one. A client that only waits for people gives its
 * turn up, so nobody else waits for a person; before its answer is passed on it takes the turn back. Between principals
 * the whole turn is kept.
 */
export class Turns {
  /** A client gave its turn up or has gone, so a question that could be of several may be of one now. */
  onFewer: () => void = () => {};
  readonly #clients = new CallMap<string, TurnClient>();
  #waiting: QueuedTurn[] = [];
  /** Clients whose answers wait for the turn; they go before calls. */
  #returning: QueuedTurn[] = [];
  #serial: boolean;
  #isHeld = false;

  constructor(serial: boolean) {
    this.#serial = serial;
  }

  get isSerial(): boolean {
    return this.#serial;
  }

  serialise(): void {
    this.#serial = true;
    for (const client of this.#clients.values()) this.#watch(client);
  }

  /** While a question could be of several clients nobody is let in. */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (!isHeld) this.#admit();
  }

  /** Takes the turn if nobody has to wait for it; the returned function ends it. */
  tryEnter(call: Call): (() => void) | undefined {
    const key = clientKey(call);
    const isNext = this.#waiting.length === 0 || this.#clients.has(key);
    if (!isNext || !this.#mayEnter(key, call.principal.id)) return undefined;
    this.#letIn(key, call.principal.id);
    return this.#leaver(key);
  }

  /** Waits for the turn; the returned function ends it. Rejects with a `FailError` when the call ends first. */
  async enter(call: Call): Promise<() => void> {
    const leave = this.tryEnter(call);
    if (leave) return leave;
    const key = clientKey(call);
    await this.#wait(call, key);
    return this.#leaver(key);
  }

  #leaver(key: string): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#leave(key);
    };
  }

  /** Whether the client only waits for people, so that no question comes from it. */
  hasYielded(key: string): boolean {
    return this.#clients.get(key)?.hasYielded ?? false;
  }

  /** How many questions the client has to answer. */
  questionsOf(key: string): number {
    return this.#clients.get(key)?.questions ?? 0;
  }

  /** The client has one more question to answer. */
  asked(key: string): void {
    const client = this.#clients.get(key);
    if (!client) return;
    client.questions += 1;
    this.#watch(client);
  }

  /**
   * The client answered. Resolves when the answer may be passed on: with the turn, or after a bounded time without it.
   */
  takeBack(key: string): Promise<void> {
    const client = this.#clients.get(key);
    if (!client?.hasYielded) return DONE;
    return this.#mayReturn(key) ? this.#resume(client) : this.#waitToReturn(client);
  }

  /** A question of the client is over. */
  settled(key: string): void {
    const client = this.#clients.get(key);
    if (!client) return;
    client.questions -= 1;
    // What it was asked is answered, so whoever asked works on.
    client.hasYielded = false;
    this.#watch(client);
    this.#forget(client);
  }

  #mayEnter(key: string, principal: string): boolean {
    if (this.#isHeld) return false;
    if (!this.#serial) return true;
    return this.#clients
      .values()
      .every((client) => client.key === key || (client.hasYielded && client.principal === principal));
  }

  #letIn(key: string, principal: string): void {
    let client = this.#clients.get(key);
    if (!client)
      this.#clients.set(
        key,
        (client = { key, principal, calls: 0, questions: 0, hasYielded: false, quiet: undefined }),
      );
    client.calls += 1;
    client.hasYielded = false;
    clearTimeout(client.quiet);
  }

  #leave(key: string): void {
    const client = this.#clients.get(key);
    if (!client) return;
    client.calls -= 1;
    this.#watch(client);
    this.#forget(client);
    this.#fewer();
  }

  /** Begins to wait for quiet when the client has no call left that was not asked for. */
  #watch(client: TurnClient): void {
    clearTimeout(client.quiet);
    if (!this.#serial || client.hasYielded || client.calls === 0 || client.questions < client.calls) return;
    client.quiet = setTimeout(() => this.#yield(client), QUIET_MS);
  }

  #yield(client: TurnClient): void {
    client.hasYielded = true;
    this.#fewer();
  }

  #forget(client: TurnClient): void {
    if (client.calls > 0) return;
    clearTimeout(client.quiet);
    this.#clients.delete(client.key);
  }

  #fewer(): void {
    if (this.#serial) this.onFewer();
    this.#admit();
  }

  async #resume(client: TurnClient): Promise<void> {
    client.hasYielded = false;
  }

  #waitToReturn(client: TurnClient): Promise<void> {
    return new Promise((resolve) => {
      const entry: QueuedTurn = {
        ...client,
        since: performance.now(),
        enter: () => {
          clearTimeout(timer);
          this.#returning = this.#returning.filter((one) => one !== entry);
          client.hasYielded = false;
          // What it was to answer may have been taken back meanwhile, and something else asked.
          this.#watch(client);
          resolve();
        },
      };
      // Whoever has the turn may be waiting behind this very call in the server.
      const timer = setTimeout(entry.enter, TURN_WAIT_MS);
      this.#returning.push(entry);
    });
  }

  #mayReturn(key: string): boolean {
    return this.#clients.values().every((client) => client.key === key || client.hasYielded);
  }

  #wait(call: Call, key: string): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      const message =
        `${MAX_WAITING} calls already wait for this server, which takes one client at a time because it asks ` +
        "its callers questions.";
      return Promise.reject(
        new FailError(fail("limited", `${message} Try again later, or set isolation = "session".`)),
      );
    }
    const signal = cancellationOf(call);
    if (signal.aborted) return Promise.reject(abortFailure(signal));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        this.#waiting = this.#waiting.filter((one) => one !== entry);
      };
      const onAbort = (): void => {
        leave();
        reject(abortFailure(signal));
        this.#admit();
      };
      const entry: QueuedTurn = {
        key,
        principal: call.principal.id,
        since: performance.now(),
        enter: () => {
          leave();
          this.#letIn(key, call.principal.id);
          resolve();
        },
      };
      // The client may need this call to answer what others wait for.
      const timer = this.questionsOf(key) > 0 ? setTimeout(entry.enter, TURN_WAIT_MS) : undefined;
      this.#waiting.push(entry);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#admit();
    });
  }

  #admit(): void {
    for (const next of this.#returning) if (this.#mayReturn(next.key)) next.enter();
    const overtakesUntil = performance.now() - OVERTAKEN_MS;
    for (const next of this.#waiting) {
      if (this.#returning.length === 0 && this.#mayEnter(next.key, next.principal)) next.enter();
      // It may wait for a person of another principal, for whom those behind it need not wait.
      else if (this.#isHeld || next.since < overtakesUntil) return;
    }
  }
}

const DONE = Promise.resolve();
