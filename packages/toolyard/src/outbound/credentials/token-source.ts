import type { Cancellation } from "../../core/calls/cancellation.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { orAborted } from "../../core/timing/wait.ts";
import { readText } from "../client/body.ts";
import type { HttpResponse } from "../client/sender.ts";
import type { ChangingCredentials, HttpClient, ServerRefusal, SentRequest } from "../client/http-client.ts";
import { retryAfterMs } from "../client/retry-after.ts";
import { basic, formEncoded } from "./basic.ts";
import { readTokenAnswer } from "./token-answer.ts";

/** A client that is registered at an authorization server (RFC 6749, 4.4). */
export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string;
  /** URI of the resource that the token is for (RFC 8707). */
  readonly resource?: string;
  /** Place of id and secret: the `Authorization` header, or the form. */
  readonly clientAuth: "basic" | "post";
}

export interface TokenSourceOptions {
  /** Id of the source that uses the tokens, for messages. */
  readonly label: string;
  readonly credentials: ClientCredentials;
  /** Client of the token endpoint; it is closed with this object. */
  readonly client: HttpClient;
  /** Called at each change with the tokens that may be in use, which must never be shown. */
  readonly onTokens: (tokens: readonly string[]) => void;
  /** Current milliseconds of a monotonic clock. @default performance.now */
  readonly now?: () => number;
}

const FETCH_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** Time before its expiry at which a token is renewed; at the earliest after half its lifetime. */
const RENEW_BEFORE_MS = 30_000;
/** Maximum number of tokens to hide: requests in flight may still carry replaced ones. */
const MAX_SECRET_TOKENS = 3;

/**
 * The access tokens of one server. They are fetched when first needed, with one request at a time, and kept until
 * shortly before they expire.
 */
export class TokenSource implements ChangingCredentials {
  readonly #options: TokenSourceOptions;
  readonly #now: () => number;
  readonly #ending = new AbortController();
  #current: { readonly token: string; readonly until: number } | undefined;
  #recent: readonly string[] = [];
  #fetching: Promise<string> | undefined;

  constructor(options: TokenSourceOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async headersFor(_sent: SentRequest, signal: Cancellation): Promise<Readonly<Record<string, string>>> {
    return { authorization: `Bearer ${await this.token(signal)}` };
  }

  /**
   * Drops the token after a 401, so that the request is repeated with a new one. Only the first 401 may be caused by an
   * expired token, so a second one is final.
   */
  async refused({ status, sent, attempt }: ServerRefusal): Promise<boolean> {
    if (status !== 401 || attempt > 0) return false;
    this.drop(sent["authorization"]!.slice("Bearer ".length));
    return true;
  }

  async token(signal: Cancellation): Promise<string> {
    signal.throwIfAborted();
    if (this.#current && this.#now() < this.#current.until) return this.#current.token;
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    // Other callers wait for the same answer, so a caller that cancels does not abort the request.
    return orAborted(this.#fetching, signal);
  }

  drop(token: string): void {
    if (this.#current?.token === token) this.#current = undefined;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#current = undefined;
    await this.#fetching?.catch(() => {});
    await this.#options.client.close();
    this.#options.onTokens([]);
  }

  async #fetch(): Promise<string> {
    const startedAt = this.#now();
    const { response, text } = await this.#ask();
    const answer = readTokenAnswer(text, (words) => this.#withoutSecrets(words));
    const { status } = response;
    if (status === 408 || status === 429 || status >= 500) throw this.#notNow(response);
    if (answer.type === "refused" || status >= 400)
      throw this.#refused(status, answer.type === "refused" ? [answer.error, answer.description] : []);
    if (answer.type === "malformed" || status >= 300)
      throw this.#malformed(answer.type === "malformed" ? answer.what : `answered with HTTP ${status}`);
    const { token, lifetimeMs } = answer;
    this.#recent = [token, ...this.#recent].slice(0, MAX_SECRET_TOKENS);
    this.#options.onTokens(this.#recent);
    this.#current = { token, until: startedAt + Math.max(lifetimeMs - RENEW_BEFORE_MS, lifetimeMs / 2) };
    return token;
  }

  async #ask(): Promise<{ readonly response: HttpResponse; readonly text: string }> {
    const { client } = this.#options;
    const late = AbortSignal.timeout(FETCH_TIMEOUT_MS);
    const signal = AbortSignal.any([late, this.#ending.signal]);
    try {
      const response = await client.request({
        method: "POST",
        ...tokenRequest(this.#options.credentials),
        signal,
        idleMs: FETCH_TIMEOUT_MS,
      });
      return {
        response,
        text: await readText(response.body, { place: client.place, maxBytes: MAX_ANSWER_BYTES, signal }),
      };
    } catch (error) {
      if (this.#ending.signal.aborted) throw this.#unavailable("was cancelled: the server is not used any more.");
      if (late.aborted) throw this.#unavailable(`did not answer within ${FETCH_TIMEOUT_MS / 1000} s.`);
      throw this.#unasked(error);
    }
  }

  #unasked(error: unknown): unknown {
    if (!(error instanceof FailError)) return error;
    const { kind, message, retryable } = error.failure;
    if (kind === "too_large") return this.#malformed(`answered more than ${MAX_ANSWER_BYTES} bytes`);
    if (kind === "malformed") return this.#malformed("sent an answer that is not HTTP");
    // The client's message names its own option `url`, so it is replaced by the name of the option for the token
    // endpoint.
    const { host, label } = this.#options.client.place;
    const what = message.replace(`\`${label}\` at ${host} `, "").replaceAll("`url`", "`token_url`");
    return this.#unavailable(what, { retryable, cause: error });
  }

  #notNow({ status, header }: HttpResponse): FailError {
    const wait = retryAfterMs(header("retry-after"), Date.now());
    return this.#unavailable(
      `cannot give one for now (HTTP ${status}). Try again later.`,
      wait === undefined ? {} : { retryAfterMs: wait },
    );
  }

  #refused(status: number, words: readonly string[]): FailError {
    const reason = [...words.filter((word) => word !== ""), `HTTP ${status}`].join(": ");
    const message = this.#message(
      `refused the client (${reason}). Check \`client_id\`, \`client_secret\` and \`scope\` of its \`auth\`.`,
    );
    const [error] = words;
    return new FailError(
      fail("needs_authorisation", message, { details: { sent: false, ...(error !== undefined && { error }) } }),
    );
  }

  #malformed(what: string): FailError {
    return new FailError(
      fail("malformed", this.#message(`${what}. Check that \`token_url\` is a token endpoint of OAuth 2.`), {
        details: { sent: false },
      }),
    );
  }

  // The caller's request was not sent. The failure has no `status`, because it would look like a status of the MCP
  // server.
  #unavailable(
    what: string,
    extras: { readonly retryable?: boolean; readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ): FailError {
    return new FailError(fail("unavailable", this.#message(what), { details: { sent: false }, ...extras }));
  }

  #message(what: string): string {
    return (
      `\`${this.#options.label}\` gets no access token: the token endpoint at ` +
      `${this.#options.client.place.host} ${what}`
    );
  }

  // An endpoint may repeat the request in its answer, so secrets are removed.
  #withoutSecrets(text: string): string {
    const { clientId, clientSecret } = this.#options.credentials;
    const forms = [clientSecret, formEncoded(clientSecret), basic(clientId, clientSecret)];
    return forms.reduce((rest, form) => rest.replaceAll(form, "***"), text);
  }
}

function tokenRequest({ clientId, clientSecret, scope, resource, clientAuth }: ClientCredentials): {
  headers: Record<string, string>;
  body: string;
} {
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (scope !== undefined) form.set("scope", scope);
  if (resource !== undefined) form.set("resource", resource);
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };
  if (clientAuth === "basic")
    return { headers: { ...headers, authorization: `Basic ${basic(clientId, clientSecret)}` }, body: form.toString() };
  form.set("client_id", clientId);
  form.set("client_secret", clientSecret);
  return { headers, body: form.toString() };
}
