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
  /** The body, up to a small bound; nothing of one beyond it. */
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
  // With none at all, browsers send no origin with the form either, by which it is known as the hub's own.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
});

/** A page for one look: no script, nothing from elsewhere, in no frame, kept nowhere. */
export function page(status: number, body: string): SignInPage {
  return { status, headers: PAGE_HEADERS, body: `<!doctype html><title>Toolyard</title>${body}` };
}

/** Sends the browser on. */
export function sendOn(location: string, cookie: string): SignInPage {
  return { status: 303, headers: { ...PAGE_HEADERS, location, "set-cookie": cookie }, body: "" };
}

/** A sign-in that waits for its browser. */
export interface WaitingSignIn {
  /** The principal, and as its connection the source. */
  readonly owner: Holder;
  /** Called when a newer sign-in takes its place. */
  end(): void;
  /** The page that its link opens; nothing for another's link. */
  page(request: PageRequest): Promise<SignInPage> | undefined;
  /** Takes what a browser brings back from an issuer; nothing where that is another's. */
  back(request: PageRequest): Promise<SignInPage> | undefined;
}

/** A source that can be signed in to from the hub's page. */
export interface SignInStarter {
  /**
   * Begins a sign-in that becomes this principal's: what its browser is sent, or nothing where it is not this
   * principal's to make. Rejects with a `FailError`.
   */
  begin(principal: Principal): Promise<SignInPage | undefined>;
}

/** Sign-ins that wait for a browser at the same time. */
const MAX_WAITING = 1000;
/** Of them, those of one principal to one source. */
const MAX_WAITING_EACH = 8;

/**
 * Where sign-ins meet the doors: which of them wait for a browser, at which address of the hub it comes back, and which
 * sources can be signed in to. Empty until somebody signs in.
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

  /** Address of the hub as browsers reach it, without a slash at its end; absent while no door with one is open. */
  get address(): string | undefined {
    return Array.from(this.#addresses).at(-1)?.url;
  }

  /** Browsers reach the hub there until the returned function is called. */
  opened(url: string): () => void {
    const entry = { url };
    this.#addresses.add(entry);
    return () => void this.#addresses.delete(entry);
  }

  /**
   * Waits until the returned function is called. Beyond the limit of one principal and source, its oldest sign-in ends;
   * beyond the limit of all, one of the principal with the most. Throws a `FailError` of kind `limited` where each has
   * no more than its share.
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
