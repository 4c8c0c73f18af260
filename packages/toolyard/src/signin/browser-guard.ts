import { randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { page, sendOn, SIGN_IN_PATH, type SignInPage, type PageRequest } from "../core/ports/sign-in-coordinator.ts";
import { escaped } from "./page.ts";

export interface BrowserGuardOptions {
  /** Id of the source of the sign-in. */
  readonly source: string;
  /** The principal that owns the sign-in. */
  readonly principal: string;
}

const COOKIE = "toolyard-sign-in";
const GOOD_FOR_MS = 600_000;
const MAX_TRIES = 5;

/**
 * Protects a sign-in link that is shown in a chat. The link is valid once and for ten minutes, and only for a user who
 * can read the code in the chat. Only the browser in which the code was entered can return the authorization response,
 * so that no other user can complete the sign-in.
 */
export class BrowserGuard {
  readonly path = `${SIGN_IN_PATH}/${randomBytes(18).toString("base64url")}`;
  /** The code shown in the chat. */
  readonly code = String(randomInt(1_000_000)).padStart(6, "0");
  readonly #options: BrowserGuardOptions;
  /** Each sign-in has its own cookie name, because one browser may have several sign-ins open. */
  #cookie = `${COOKIE}-${randomBytes(6).toString("hex")}=${randomBytes(24).toString("base64url")}`;
  readonly #until = performance.now() + GOOD_FOR_MS;
  #target: { readonly address: string; readonly back: URL } | undefined;
  #tries = 0;

  constructor(options: BrowserGuardOptions) {
    this.#options = options;
  }

  /** Sets the target of the link after the code was entered, and the address to which the browser returns. */
  leadTo(address: string, back: string): void {
    this.#target = { address, back: new URL(back) };
    // With this prefix, no other host and no unencrypted page can set the cookie in the browser.
    if (this.#target.back.protocol === "https:") this.#cookie = `__Host-${this.#cookie}`;
  }

  /** True while the link can be used: it has a target, has tries left and has not expired. */
  get isOpen(): boolean {
    return this.#target !== undefined && this.#tries < MAX_TRIES && performance.now() < this.#until;
  }

  /** Returns whether this browser entered the code. */
  admits({ cookie }: Pick<PageRequest, "cookie">): boolean {
    const name = this.#cookie.slice(0, this.#cookie.indexOf("=") + 1);
    const given = cookie?.split(/;\s*/).find((pair) => pair.startsWith(name));
    return isEqual(given ?? "", this.#cookie);
  }

  async serve(request: Pick<PageRequest, "method" | "body">): Promise<SignInPage> {
    if (!this.isOpen) return page(410, "<p>This link was used or has expired. Start again in the chat.");
    if (request.method === "GET") return page(200, this.#form(""));
    if (request.method !== "POST") return page(405, "<p>This is a page for a browser.");
    this.#tries += 1;
    const given = new URLSearchParams(await request.body()).get("code") ?? "";
    return isEqual(given.trim(), this.code) ? this.pass() : page(403, this.#form("<p>The code is wrong."));
  }

  /** Redirects the browser to the issuer, once. */
  pass(): SignInPage {
    if (!this.#target) return page(410, "<p>This link was used.");
    const { address, back } = this.#target;
    this.#target = undefined;
    const [path, secure] = back.protocol === "https:" ? ["/", "; Secure"] : [back.pathname, ""];
    return sendOn(
      address,
      `${this.#cookie}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${GOOD_FOR_MS / 1000}${secure}`,
    );
  }

  #form(note: string): string {
    const { source, principal } = this.#options;
    return (
      `<h1>Sign in to ${escaped(source)}</h1>${note}<p>The hub will use this sign-in for the tools of ` +
      `${escaped(source)}, as ${escaped(principal)}. Continue only if you have just requested it.<form ` +
      "method=post><label>Code shown in the chat <input name=code inputmode=numeric autocomplete=off " +
      "required></label> <button>Continue</button></form>"
    );
  }
}

function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
