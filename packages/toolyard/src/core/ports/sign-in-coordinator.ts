import type { Principal } from "../calls/call.ts";
import { FailError } from "../errors.ts";
import { fail } from "../calls/outcome.ts";
import { Shares, type Holder } from "../fairness/shares.ts";

/** A request of a browser to one of the hub's own pages for sign-ins. */
export interface PageRequest {
  readonly method: string;
  /** Below the hub's address, with a leading slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly cookie: string | undefined;
  /** Returns the body, up to a small limit; empty above it. */
  body(): Promise<string>;
}

export interface SignInPage {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const PAGE_HEADERS = Object.freeze({
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  // Without a referrer, browsers send no origin with the form, which proves that it is the hub's own form.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
});

/** A page without script and external content, not frameable and not cached. */
export function page(status: number, body: string): SignInPage {
  return { status, headers: PAGE_HEADERS, body: `<!doctype html><title>Toolyard</title>${body}` };
}

/** Redirects the browser. */
export function sendOn(location: string, cookie: string): SignInPage {
  return { status: 303, headers: { ...PAGE_HEADERS, location, "set-cookie": cookie }, body: "" };
}

/** A sign-in that waits for its browser. */
export interface WaitingSignIn {
  /** The principal, with the source as its connection. */
  readonly owner: Holder;
  /** Called when a newer sign-in replaces it. */
  end(): void;
  /** Returns the page that its link opens; `undefined` for another sign-in's link. */
  page(request: PageRequest): Promise<SignInPage> | undefined;
  /** Handles a browser's return from an issuer; `undefined` if it belongs to another sign-in. */
  back(request: PageRequest): Promise<SignInPage> | undefined;
}

/** A source that users can sign in to from the hub's page. */
export interface SignInStarter {
  /**
   * Starts a sign-in for this principal and returns the answer to its browser; `undefined` if this principal may not
   * start it. Rejects with a `FailError`.
   */
  begin(principal: Principal): Promise<SignInPage | undefined>;
}

/** Most sign-ins that wait for a browser. */
const MAX_WAITING = 1000;
/** Most waiting sign-ins of one principal to one source. */
const MAX_WAITING_EACH = 8;

/**
 * Connects sign-ins with endpoints: the sign-ins that wait for a browser, the hub's address to which it returns, and
 * the sources that users can sign in to. Empty until the first sign-in.
 */
export class SignInCoordinator {
  /** Folder of the vault, where commands of this home wait; absent: there is none. */
  readonly folder: string | undefined;
  /** Sources by id. */
  readonly sources = new Map<string, SignInStarter>();
  readonly #waiting = new Set<WaitingSignIn>();
  readonly #shares = new Shares();
  readonly #addresses = new Set<{ readonly url: string }>();

  constructor(folder: string | undefined) {
    this.folder = folder;
  }

  /** Address of the hub for browsers, without a trailing slash; absent while no endpoint with one is open. */
  get address(): string | undefined {
    return Array.from(this.#addresses).at(-1)?.url;
  }

  /** Registers an address for browsers until the returned function is called. */
  opened(url: string): () => void {
    const entry = { url };
    this.#addresses.add(entry);
    return () => void this.#addresses.delete(entry);
  }

  /**
   * Registers a waiting sign-in until the returned function is called. Above the limit of one principal and source, its
   * oldest sign-in ends; above the total limit, one of the principal with the most. Throws a `FailError` of kind
   * `limited` if no principal exceeds its share.
   */
  wait(signIn: WaitingSignIn): () => void {
    const { owner } = signIn;
    const own = Array.from(this.#waiting).filter((one) => isSameOwner(one.owner, owner));
    if (own.length >= MAX_WAITING_EACH) this.#end(own[0]!);
    else if (this.#waiting.size >= MAX_WAITING) this.#end(this.#debtorTo(owner) ?? own[0]);
    this.#waiting.add(signIn);
    this.#shares.add(owner);
    return () => this.#leave(signIn);
  }

  #debtorTo(owner: Holder): WaitingSignIn | undefined {
    return this.#shares.debtorTo(owner, this.#waiting, { holder: (one) => one.owner });
  }

  #end(one: WaitingSignIn | undefined): void {
    if (!one) throw new FailError(fail("limited", TOO_MANY, { retryAfterMs: RETRY_MS, details: { sent: false } }));
    this.#leave(one);
    one.end();
  }

  #leave(one: WaitingSignIn): void {
    if (this.#waiting.delete(one)) this.#shares.remove(one.owner);
  }

  page(request: PageRequest): Promise<SignInPage> | undefined {
    return this.#first((one) => one.page(request));
  }

  back(request: PageRequest): Promise<SignInPage> | undefined {
    return this.#first((one) => one.back(request));
  }

  #first(ask: (one: WaitingSignIn) => Promise<SignInPage> | undefined): Promise<SignInPage> | undefined {
    for (const one of this.#waiting) {
      const page = ask(one);
      if (page) return page;
    }
    return undefined;
  }
}

function isSameOwner(one: Holder, other: Holder): boolean {
  return one.principal === other.principal && one.connection === other.connection;
}

const RETRY_MS = 60_000;
const TOO_MANY = `${MAX_WAITING} sign-ins wait for a browser, which is the limit. Try again in a minute.`;

/** Paths of the hub, below its address. */
export const SIGN_IN_PATH = "/sign-in";
export const CALLBACK_PATH = "/oauth/callback";
export const CLIENT_DOCUMENT_PATH = "/oauth/client.json";
