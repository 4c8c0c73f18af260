import { CallMap } from "../../core/calls/call-map.ts";
import { cancellationOf, type Call } from "../../core/calls/call.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { abortFailure } from "../../core/timing/wait.ts";

/** Maximum number of calls that wait for their turn on one connection. */
const MAX_WAITING = 1000;
/**
 * Time without a further server request after which a client yields its turn, if each of its calls has an open request.
 */
export const QUIET_MS = 50;
/** Waiting time after which a call is no longer overtaken by later ones. */
const OVERTAKEN_MS = 10_000;
/**
 * Maximum time that an answer waits for the turn, and that a call waits if its client may need the call to answer a
 * server request.
 */
const TURN_WAIT_MS = 1000;

interface TurnClient {
  readonly key: string;
  readonly principal: string;
  /** Number of admitted calls of the client that have not ended. */
  calls: number;
  /** Number of server requests that the client must answer. */
  questions: number;
  /** True if the client only waits for users, so that another client may have the turn. */
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
 * Runs calls concurrently until the server sends a request, and from then on for one client at a time, because a
 * request on a shared connection does not name its call. Calls of one client never wait for each other: their requests
 * reach the same client, and a client may have to make a call in order to answer a request. A client that only waits
 * for users gives the turn to other clients of its principal, so that they need not wait for a user. It gets the turn
 * back before its answer is passed on.
 */
export class Turns {
  /**
   * Called when a client yields its turn or disconnects, because a request may then have only one possible client left.
   */
  onFewer: () => void = () => {};
  readonly #clients = new CallMap<string, TurnClient>();
  #waiting: QueuedTurn[] = [];
  /** Clients whose answers wait for the turn. They are served before calls. */
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

  /**
   * Stops admitting calls if `isHeld`, because a server request has several possible clients. Otherwise admits calls
   * again.
   */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (!isHeld) this.#admit();
  }

  /**
   * Takes the turn, which the call has until `leave`. Returns a promise if the call must wait for the turn. It rejects
   * with a `FailError` if the call ends first.
   */
  enter(call: Call): Promise<void> | undefined {
    const key = clientKey(call);
    const isNext = this.#waiting.length === 0 || this.#clients.has(key);
    if (!isNext || !this.#mayEnter(key, call.principal.id)) return this.#wait(call, key);
    this.#letIn(key, call.principal.id);
    return undefined;
  }

  /** Ends the turn of a call. Must be called once for each call that has entered. */
  leave(call: Call): void {
    const client = this.#clients.get(clientKey(call));
    if (!client) return;
    client.calls -= 1;
    if (client.calls === 0) this.#forget(client);
    // Before the server sends its first request, no call waits for the end of another.
    if (!this.#serial) return;
    this.#watch(client);
    this.#fewer();
  }

  /** Returns whether the client only waits for users, so that its calls send no requests. */
  hasYielded(key: string): boolean {
    return this.#clients.get(key)?.hasYielded ?? false;
  }

  /** Returns the number of server requests that the client must answer. */
  questionsOf(key: string): number {
    return this.#clients.get(key)?.questions ?? 0;
  }

  /** Records another request that the client must answer. */
  asked(key: string): void {
    const client = this.#clients.get(key);
    if (!client) return;
    client.questions += 1;
    this.#watch(client);
  }

  /** Records an answer. Resolves when it may be passed on: when the client has the turn, or after a limited time. */
  takeBack(key: string): Promise<void> {
    const client = this.#clients.get(key);
    if (!client?.hasYielded) return DONE;
    return this.#mayReturn(key) ? this.#resume(client) : this.#waitToReturn(client);
  }

  /** Records that the client no longer has to answer one of the server's requests. */
  settled(key: string): void {
    const client = this.#clients.get(key);
    if (!client) return;
    client.questions -= 1;
    // The client's request is answered, so one of its calls continues.
    client.hasYielded = false;
    this.#watch(client);
    if (client.calls === 0) this.#forget(client);
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

  /** Starts the wait after which the client gives up the turn, if each of its calls has an open request. */
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
    clearTimeout(client.quiet);
    this.#clients.delete(client.key);
  }

  #fewer(): void {
    this.onFewer();
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
          // The request may have been withdrawn and another one sent, so the client is checked again.
          this.#watch(client);
          resolve();
        },
      };
      // The call is admitted after a time limit, because the client with the turn may be waiting in the server for this
      // very call.
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
        `${MAX_WAITING} calls already wait for this server, which serves one client at a time because it ` +
        "sends requests to its callers.";
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
      // The call is admitted after a time limit if the client may need it to answer a request for which others wait.
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
      // Later calls may overtake this one, because it may be waiting for a user of another principal. After
      // `OVERTAKEN_MS`, they no longer may.
      else if (this.#isHeld || next.since < overtakesUntil) return;
    }
  }
}

/**
 * Returns the key of the client that answers server requests of a call: its lasting connection, or else the call
 * itself. For a call made by another call, the outer call is used.
 */
export function clientKey({ client, parent, id }: Pick<Call, "client" | "parent" | "id">): string {
  return client.connection ?? `call ${parent ?? id}`;
}

const DONE = Promise.resolve();
