import { Attempts } from "../../../auth/builtin/attempts.ts";
import type { Access } from "../../../core/access.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import { sendValue } from "../../../endpoints/rest/answer.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { assertOwnOrigin, cookieName, cookieOf, credentialsFor } from "./admin-caller.ts";
import type { CodeSignIn } from "./code-sign-in.ts";
import { SIGN_IN_HEADERS, signInPage, type SignInFacts } from "./sign-in-page.ts";
import { signInTexts } from "./sign-in-texts.ts";
import type { BrowserSession, NewSession, Sessions } from "./sessions.ts";

const MAX_BODY_BYTES = 64 * 1024;
/** Limit of sign-ins from one address. */
const SIGN_INS = { burst: 10, everyMs: 3000 };

export interface SessionParts {
  readonly access: Pick<Access, "authenticator">;
  readonly sessions: Sessions;
  readonly codes: CodeSignIn;
  readonly sessionMs: number;
}

/**
 * Opens and ends browser sessions. The cookie has the default path of its request, which is `/api/admin` as the browser
 * sees it. This is correct behind a proxy that adds a path, too.
 */
export class SessionEndpoint {
  readonly #parts: SessionParts;
  readonly #attempts = new Attempts(SIGN_INS, Date.now);

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  async showForm(exchange: HttpExchange, title: string): Promise<void> {
    const page = await this.#form(exchange, { title, api: "../api/admin/", problem: undefined });
    exchange.answer.send(200, SIGN_IN_HEADERS, page);
  }

  async #form(exchange: HttpExchange, facts: Omit<SignInFacts, "flows" | "texts">): Promise<string> {
    const texts = signInTexts(exchange.header("accept-language"));
    return signInPage({ ...facts, texts, flows: await this.#parts.codes.flows() });
  }

  /** `GET callback`: the authorization server returns the browser. */
  async complete(exchange: HttpExchange, title: string): Promise<void> {
    try {
      const { flow, tokens } = await this.#parts.codes.complete(exchange);
      const authorization = `Bearer ${tokens.accessToken}`;
      const problem = await this.#problemOf(exchange, authorization, true);
      if (problem !== undefined) {
        void flow.revoke(tokens.refreshToken ?? tokens.accessToken);
        throw new Refusal(403, problem);
      }
      await this.#start(exchange, { authorization, signedIn: { ...tokens, flow } });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const page = await this.#form(exchange, { title, api: "", problem: error.message });
      exchange.answer.send(error.status, SIGN_IN_HEADERS, page);
    }
  }

  /** Opens a session and sends the browser to the console. */
  async #start(exchange: HttpExchange, session: BrowserSession): Promise<void> {
    const opened = await this.#parts.sessions.open(session);
    this.#setCookie(exchange, opened);
    // A fragment is in no log and no `Referer`.
    exchange.answer.send(303, ["location", `../../console/#key=${opened.key}`, ...NO_STORE]);
  }

  /** Handles `POST session`. The body is a form with `token`, or with the `code` of a sign-in link. */
  async open(exchange: HttpExchange, title: string): Promise<void> {
    assertOwnOrigin(exchange);
    const waitMs = this.#attempts.take(exchange.remoteAddress);
    const form = new URLSearchParams((await exchange.readBody(MAX_BODY_BYTES)).toString("utf8"));
    const code = form.get("code");
    if (waitMs > 0) {
      const headers = { "retry-after": String(Math.ceil(waitMs / 1000)) };
      throw new Refusal(429, "Too many sign-ins from this address. Try again in a few seconds.", headers);
    }
    const authorization =
      code === null
        ? `Bearer ${(form.get("token") ?? "").trim()}`
        : (await this.#parts.sessions.useLink(code))?.authorization;
    const problem = await this.#problemOf(exchange, authorization);
    if (problem !== undefined || authorization === undefined) {
      if (code !== null) throw new Refusal(401, problem ?? "");
      return exchange.answer.send(401, SIGN_IN_HEADERS, await this.#form(exchange, { title, api: "", problem }));
    }
    this.#attempts.giveBack(exchange.remoteAddress);
    if (code === null) return this.#start(exchange, { authorization });
    const session = await this.#parts.sessions.open({ authorization });
    this.#setCookie(exchange, session);
    sendValue(exchange.answer, { key: session.key });
  }

  /** Handles `DELETE session`. */
  async end(exchange: HttpExchange): Promise<void> {
    assertOwnOrigin(exchange);
    const cookie = cookieOf(exchange);
    if (cookie !== undefined) await this.#parts.sessions.end(cookie);
    exchange.answer.setHeader("set-cookie", `${cookieName(exchange)}=; Max-Age=0; HttpOnly; SameSite=Strict`);
    sendValue(exchange.answer, { done: true });
  }

  /** Returns the reason for which a session cannot begin. `isHeldByHub`: the hub obtained the token itself. */
  async #problemOf(
    exchange: HttpExchange,
    authorization: string | undefined,
    isHeldByHub = false,
  ): Promise<string | undefined> {
    if (authorization === undefined)
      return "This link was used or has expired. `POST /api/admin/links` creates another one.";
    const credentials = credentialsFor(exchange, authorization, isHeldByHub);
    const found = await this.#parts.access.authenticator.authenticate(credentials);
    return found.admitted ? undefined : `${found.message}. Check the token.`;
  }

  #setCookie(exchange: HttpExchange, { cookie }: NewSession): void {
    const isSecure = exchange.baseUrl.startsWith("https:");
    const age = Math.floor(this.#parts.sessionMs / 1000);
    const attributes = `HttpOnly; SameSite=Strict; Max-Age=${age}${isSecure ? "; Secure" : ""}`;
    exchange.answer.setHeader("set-cookie", `${cookieName(exchange)}=${cookie}; ${attributes}`);
  }
}

const NO_STORE = ["cache-control", "no-store", "referrer-policy", "no-referrer"];
