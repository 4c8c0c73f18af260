import { randomBytes } from "node:crypto";
import { Attempts } from "../../../auth/builtin/attempts.ts";
import type { Access } from "../../../core/access.ts";
import {
  CodeFlowRefused,
  type CodeFlow,
  type CodeFlowClient,
  type IssuedTokens,
} from "../../../core/ports/code-flow.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { stringMember } from "../../../core/json/json.ts";
import { cookieName } from "./admin-caller.ts";
import type { SealedRecords } from "./sealed-records.ts";

/** Time that a user has to sign in at the authorization server. */
const PENDING_MS = 15 * 60_000;
/** Limit of sign-ins that one address can start. */
const STARTS = { burst: 10, everyMs: 5000 };
/**
 * Maximum number of sign-ins that wait for their browser. Above it, the oldest one is removed. Large, because starts
 * need no credentials and are limited for each address only: few addresses must not displace the sign-ins of others.
 */
export const MAX_PENDING = 20_000;

interface PendingFlow {
  /** Name of the authorization server. */
  readonly flow: string;
  readonly verifier: string;
}

export interface CompletedFlow {
  readonly flow: CodeFlow;
  readonly tokens: IssuedTokens;
}

export interface CodeSignInParts {
  readonly access: Pick<Access, "loadCodeFlows">;
  readonly client: CodeFlowClient;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Sign-ins of all hubs of a store, because the browser may return to another hub. @default those of this hub */
  readonly shared?: SealedRecords;
}

/**
 * Sign-in of a browser at an authorization server. A cookie binds the response to the browser that began, so that
 * another site cannot sign a user in to a foreign account.
 */
export class CodeSignIn {
  readonly #parts: CodeSignInParts;
  readonly #now: () => number;
  /** Pending sign-ins by `state`, oldest first. */
  readonly #pending = new Map<string, PendingFlow & { readonly until: number }>();
  /** Number of started sign-ins by address, so that one address cannot displace the pending sign-ins of others. */
  readonly #attempts: Attempts;
  #flows: Promise<readonly CodeFlow[]> | undefined;

  constructor(parts: CodeSignInParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    this.#attempts = new Attempts(STARTS, this.#now);
  }

  flows(): Promise<readonly CodeFlow[]> {
    this.#flows ??= this.#load();
    return this.#flows;
  }

  /** Loads the flows. After a failure, the next request loads them again. */
  async #load(): Promise<readonly CodeFlow[]> {
    const { access, client } = this.#parts;
    try {
      return (await access.loadCodeFlows?.(client)) ?? [];
    } catch (error) {
      this.#flows = undefined;
      throw error;
    }
  }

  /** `GET sign-in?by=`: sends the browser to the authorization server. */
  async begin(exchange: HttpExchange): Promise<void> {
    const by = exchange.query.get("by");
    const flow = (await this.flows()).find(({ name }) => name === by);
    if (!flow) throw new Refusal(404, "This hub has no such sign-in. Open `/console/sign-in`.");
    const elsewhere = canonicalStart(exchange, flow);
    if (elsewhere !== undefined) return exchange.answer.send(303, ["location", elsewhere, ...NO_STORE]);
    const waitMs = this.#attempts.take(exchange.remoteAddress);
    if (waitMs > 0) {
      const headers = { "retry-after": String(Math.ceil(waitMs / 1000)) };
      throw new Refusal(429, "Too many sign-ins from this address. Try again in a few seconds.", headers);
    }
    const [state, verifier] = [randomBytes(32).toString("base64url"), randomBytes(32).toString("base64url")];
    const location = await flow.authorizationUrl({ state, verifier }).catch((error: unknown) => {
      throw unavailable(error);
    });
    await this.#put(state, { flow: flow.name, verifier });
    exchange.answer.setHeader("set-cookie", `${stateCookie(exchange)}=${state}; ${attributes(exchange)}`);
    exchange.answer.send(303, ["location", location, ...NO_STORE]);
  }

  /** `GET callback`: resolves with the tokens for the code. Throws a `Refusal` if another browser began the sign-in. */
  async complete(exchange: HttpExchange): Promise<CompletedFlow> {
    const state = exchange.query.get("state") ?? "";
    const own = `${stateCookie(exchange)}=${state}`;
    const isOwn = (exchange.header("cookie") ?? "").split(";").some((part) => part.trim() === own);
    const pending = isOwn ? await this.#take(state) : undefined;
    const flow = pending && (await this.flows()).find(({ name }) => name === pending.flow);
    if (!pending || !flow)
      throw new Refusal(400, "This sign-in has ended, or was begun in another browser. Start again.");
    const { verifier } = pending;
    try {
      return { flow, tokens: await flow.redeem(exchange.query, { state, verifier }) };
    } catch (error) {
      if (error instanceof CodeFlowRefused) throw new Refusal(401, `${error.message}. Start again.`);
      throw unavailable(error);
    }
  }

  async close(): Promise<void> {
    const flows = await this.#flows?.catch(() => []);
    await Promise.all((flows ?? []).map((flow) => flow.close()));
  }

  async #put(state: string, pending: PendingFlow): Promise<void> {
    const { shared } = this.#parts;
    if (shared) return shared.put(state, { ...pending }, PENDING_MS);
    this.#removeExpired();
    this.#pending.set(state, { ...pending, until: this.#now() + PENDING_MS });
    if (this.#pending.size > MAX_PENDING) this.#pending.delete(this.#pending.keys().next().value!);
  }

  /** Removes a sign-in and returns it. */
  async #take(state: string): Promise<PendingFlow | undefined> {
    const { shared } = this.#parts;
    if (shared) {
      const record = (await shared.take(state)) ?? {};
      const [flow, verifier] = [stringMember(record, "flow"), stringMember(record, "verifier")];
      return flow === undefined || verifier === undefined ? undefined : { flow, verifier };
    }
    const pending = this.#pending.get(state);
    this.#pending.delete(state);
    return pending && this.#now() <= pending.until ? pending : undefined;
  }

  #removeExpired(): void {
    const now = this.#now();
    for (const [state, { until }] of this.#pending) {
      // The oldest sign-in is the first one, and expires first.
      if (now <= until) return;
      this.#pending.delete(state);
    }
  }
}

function unavailable(cause: unknown): Refusal {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new Refusal(503, `The sign-in is not available now: ${text}`, { "retry-after": "5" });
}

function stateCookie(exchange: HttpExchange): string {
  return `${cookieName(exchange)}_state`;
}

/** `Lax`, because the authorization server's site sends the browser back. */
function attributes({ baseUrl }: HttpExchange): string {
  const isSecure = baseUrl.startsWith("https:");
  return `HttpOnly; SameSite=Lax; Max-Age=${PENDING_MS / 1000}${isSecure ? "; Secure" : ""}`;
}

const NO_STORE = ["cache-control", "no-store", "referrer-policy", "no-referrer"];

/** Query parameter that marks an address as reached by a redirect, so that a browser is redirected at most once. */
const REDIRECTED = "canonical";

/**
 * Returns the start of the sign-in at the hub's canonical address, if the browser uses another name of the hub. The
 * server returns the browser to the canonical address, where a cookie of another name does not arrive.
 */
function canonicalStart({ baseUrl, query }: HttpExchange, { name, redirectUri }: CodeFlow): string | undefined {
  if (query.has(REDIRECTED) || new URL(redirectUri).origin === new URL(baseUrl).origin) return undefined;
  return new URL(`sign-in?by=${name}&${REDIRECTED}=1`, redirectUri).href;
}
