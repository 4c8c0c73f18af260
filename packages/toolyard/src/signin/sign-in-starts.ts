import { FailError } from "../core/errors.ts";
import { FairLine } from "../core/fairness/fair-line.ts";
import { fail } from "../core/calls/outcome.ts";
import type { ClientRecord } from "./records.ts";

/**
 * Maximum number of sign-ins to one source that are prepared concurrently. Each sends a few requests to the server and
 * its issuer.
 */
const MAX_PREPARING = 8;
const MAX_QUEUED = 64;
const MAX_QUEUE_MS = 20_000;
/** Maximum number of sign-ins to one source that one principal may start within `WINDOW_MS`. */
const MAX_STARTS = 10;
const WINDOW_MS = 60_000;
/** Maximum number of principals with counted starts; the oldest is dropped. */
const MAX_PRINCIPALS = 10_000;
/** Time in milliseconds for which a newly registered client is used by further sign-ins. */
const CLIENT_LIFE_MS = 600_000;
const MAX_CLIENTS = 16;

export interface StartsOptions {
  /** Id of the source, for messages. */
  readonly label: string;
  /** Current time in milliseconds. @default performance.now */
  readonly now?: () => number;
}

interface RegisteredClient {
  readonly client: ClientRecord;
  readonly at: number;
}

/**
 * Limits the load of sign-ins on one source and its issuer, for all principals together and for each. Registers the hub
 * once for concurrent sign-ins.
 */
export class SignInStarts {
  readonly #label: string;
  readonly #now: () => number;
  // The queue assumes at least two principals, so that one of them cannot take all places.
  readonly #preparing = new FairLine({ places: MAX_PREPARING, waiting: MAX_QUEUED, principals: 2 });
  /** Times of the latest starts by principal. */
  readonly #starts = new Map<string, readonly number[]>();
  readonly #clients = new Map<string, RegisteredClient>();
  readonly #pending = new Map<string, Promise<ClientRecord>>();
  #registering: Promise<unknown> = Promise.resolve();

  constructor({ label, now = () => performance.now() }: StartsOptions) {
    this.#label = label;
    this.#now = now;
  }

  /**
   * Resolves when a sign-in may be prepared, with a function to call once it is prepared (its page is shown). Rejects
   * with a `FailError` of kind `limited` if this principal starts too many, or too many are being prepared.
   */
  async begin(principal: string, signal: AbortSignal): Promise<() => void> {
    this.#count(principal);
    const holder = { principal };
    if (!(await this.#preparing.enter(holder, { cancellation: signal, waitMs: MAX_QUEUE_MS })))
      throw limited(`Too many sign-ins to \`${this.#label}\` are being prepared. Try again in a moment.`, 1000);
    let isPrepared = false;
    return () => {
      if (isPrepared) return;
      isPrepared = true;
      this.#preparing.leave(holder);
    };
  }

  /**
   * Returns the hub's client for `key`. Concurrent callers with one key share one registration; registrations with
   * different keys run one after another, and `register` receives the client of the previous registration.
   */
  client(key: string, register: (recent: ClientRecord | undefined) => Promise<ClientRecord>): Promise<ClientRecord> {
    const pending = this.#pending.get(key);
    if (pending) return pending;
    const turn = this.#registering.then(async () => {
      const client = await register(this.#recent(key));
      if (client.from === "registered") this.#remember(key, client);
      return client;
    });
    this.#registering = turn.catch(() => {});
    const shared = turn.finally(() => this.#pending.delete(key));
    this.#pending.set(key, shared);
    return shared;
  }

  #count(principal: string): void {
    const now = this.#now();
    const lately = (this.#starts.get(principal) ?? []).filter((at) => at > now - WINDOW_MS);
    if (lately.length >= MAX_STARTS) {
      const waitMs = Math.ceil(lately[0]! + WINDOW_MS - now);
      throw limited(
        `${MAX_STARTS} sign-ins to \`${this.#label}\` were started within ${WINDOW_MS / 1000} s, which is ` +
          `the limit for one caller. Finish one, or try again in ${Math.ceil(waitMs / 1000)} s.`,
        waitMs,
      );
    }
    this.#starts.delete(principal);
    this.#starts.set(principal, [...lately, now]);
    if (this.#starts.size > MAX_PRINCIPALS) this.#starts.delete(this.#starts.keys().next().value!);
  }

  #recent(key: string): ClientRecord | undefined {
    const found = this.#clients.get(key);
    return found && found.at > this.#now() - CLIENT_LIFE_MS ? found.client : undefined;
  }

  #remember(key: string, client: ClientRecord): void {
    const isKnown = this.#recent(key)?.id === client.id;
    if (isKnown) return;
    this.#clients.delete(key);
    this.#clients.set(key, { client, at: this.#now() });
    if (this.#clients.size > MAX_CLIENTS) this.#clients.delete(this.#clients.keys().next().value!);
  }
}

const byScope = new WeakMap<object, SignInStarts>();

/** Returns the shared limits of a scope; undefined without a scope. */
export function startsOf({
  scope,
  label,
}: {
  readonly scope?: object;
  readonly label: string;
}): SignInStarts | undefined {
  if (!scope) return undefined;
  let starts = byScope.get(scope);
  if (!starts) byScope.set(scope, (starts = new SignInStarts({ label })));
  return starts;
}

function limited(message: string, retryAfterMs: number): FailError {
  return new FailError(fail("limited", message, { retryAfterMs, details: { sent: false } }));
}
