import { LOCAL_PRINCIPAL, type Principal } from "../calls/call.ts";
import { FailError } from "../errors.ts";
import { fail } from "../calls/outcome.ts";
import { permissionOf } from "./rights.ts";
import { Shares, type Holder } from "../fairness/shares.ts";

/** Browser request to one of the hub's pages for sign-ins. */
export interface PageRequest {
  readonly method: string;
  /** Path below the hub's address, with a leading slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly cookie: string | undefined;
  /** Returns the body, or an empty string if the body is above a small limit. */
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
  // With `no-referrer`, browsers would not send `Origin` with the form. `Origin` proves that a page of the hub sent the
  // form.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
});

/** Returns a page without scripts and external content. It can be neither framed nor cached. */
export function page(status: number, body: string): SignInPage {
  return { status, headers: PAGE_HEADERS, body: `<!doctype html><title>Toolyard</title>${body}` };
}

/** Returns a redirect of the browser with a cookie. */
export function sendOn(location: string, cookie: string): SignInPage {
  return { status: 303, headers: { ...PAGE_HEADERS, location, "set-cookie": cookie }, body: "" };
}

/** Sign-in that waits for its browser. */
export interface WaitingSignIn {
  /** Owner of the sign-in: the principal, with the source as its connection. */
  readonly owner: Holder;
  /** Called when a newer sign-in replaces this one. */
  end(): void;
  /** Returns the page for the sign-in's link, or `undefined` if the link belongs to another sign-in. */
  page(request: PageRequest): Promise<SignInPage> | undefined;
  /** Handles the return of a browser from an issuer. Returns `undefined` if the return belongs to another sign-in. */
  back(request: PageRequest): Promise<SignInPage> | undefined;
}

/** The sign-in of one owner to a source, without its tokens. */
export interface SignInSummary {
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** End of the access token in ISO 8601. */
  readonly expiresAt?: string;
  /** True if the hub renews the access token without a user. */
  readonly isRenewable: boolean;
}

export interface SignOutResult {
  /** True if the authorization server has confirmed the revocation. */
  readonly isRevoked: boolean;
}

/** Caller that signs in or out. */
export interface SigningCaller {
  readonly principal: Principal;
  /** True if the caller may sign in for all callers of the hub. @default only the local caller may */
  readonly isAdministrator?: boolean;
}

/** Returns whether the caller may sign in for all callers of the hub: a local user with all rights. */
export function isHubOwner({ id, remote, rights }: Principal): boolean {
  return id === LOCAL_PRINCIPAL.id && remote !== true && !permissionOf(rights).isNarrowed;
}

/** Source to which users can sign in from the hub's pages. */
export interface SignInStarter {
  /** True if each caller signs in separately. */
  readonly isPersonal: boolean;
  /**
   * Starts a sign-in for this caller. Resolves with the page for its browser, or with `undefined` if the caller may not
   * start one. Rejects with a `FailError`.
   */
  begin(caller: SigningCaller): Promise<SignInPage | undefined>;
  /**
   * Resolves with the sign-in that calls of this principal use, or with `none`. Resolves with `undefined` if users
   * cannot sign in to this source.
   */
  find(principal: Principal): Promise<SignInSummary | "none" | undefined>;
  /**
   * Ends the sign-in that calls of this principal use. Resolves with `none` if there is none, and with `undefined` if
   * the caller may not end it. Rejects with a `FailError`.
   */
  signOut(caller: SigningCaller): Promise<SignOutResult | "none" | undefined>;
}

/** Maximum number of sign-ins that wait for a browser. */
const MAX_WAITING = 1000;
/** Maximum number of pending sign-ins of one principal to one source. */
const MAX_WAITING_EACH = 8;

/**
 * Connects sign-ins with endpoints. Holds the sign-ins that wait for a browser, the address of the hub to which
 * browsers return, and the sources to which users can sign in.
 */
export class SignInCoordinator {
  /**
   * Folder of the vault. Commands with the same home folder wait there for sign-ins. Absent if the hub has no vault.
   */
  readonly folder: string | undefined;
  /** Sources by id. */
  readonly sources = new Map<string, SignInStarter>();
  readonly #waiting = new Set<WaitingSignIn>();
  readonly #shares = new Shares();
  readonly #addresses = new Set<{ readonly url: string }>();

  constructor(folder: string | undefined) {
    this.folder = folder;
  }

  /**
   * Address of the hub for browsers, without a trailing slash. `undefined` while no endpoint with such an address is
   * open.
   */
  get address(): string | undefined {
    return Array.from(this.#addresses).at(-1)?.url;
  }

  /** Registers an address for browsers. The returned function removes it. */
  opened(url: string): () => void {
    const entry = { url };
    this.#addresses.add(entry);
    return () => void this.#addresses.delete(entry);
  }

  /**
   * Registers a pending sign-in. The returned function removes it. If the principal has reached its limit for this
   * source, its oldest sign-in to the source ends. If the total limit is reached, one sign-in of the principal with the
   * most ends. Throws a `FailError` of kind `limited` if no principal exceeds its share.
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
