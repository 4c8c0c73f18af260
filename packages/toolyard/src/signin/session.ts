import { createHash } from "node:crypto";
import type { Cancellation } from "../core/calls/cancellation.ts";
import { messageOf, type FailError } from "../core/errors.ts";
import type { Logger } from "../core/ports/ports.ts";
import { markLogged } from "../core/calls/logged-failure.ts";
import { orAborted } from "../core/timing/wait.ts";
import type { ChangingCredentials, ServerRefusal, SentRequest } from "../outbound/client/http-client.ts";
import { readChallenge, type Challenge } from "./challenge.ts";
import { MAX_WIDENINGS } from "./prepared-sign-in.ts";
import { createContext, keyOf, type LoginContext, type SignInPlace } from "./context.ts";
import { createProof, createProofKey, proofKeyOf, type ProofKey } from "./dpop.ts";
import { needsPerson, notNow } from "./failures.ts";
import { redeem, revoke, type GrantRequest } from "./grants.ts";
import { acquire } from "./machine.ts";
import { secretsOf, type SignInRecord, type TokenRecord } from "./records.ts";
import { words } from "./scopes.ts";
import { isSame, StoredSignIn } from "./session-record.ts";

export interface SessionOptions extends LoginContext {
  readonly logger: Logger;
  /** Instruction for the user: a sentence without its full stop. */
  readonly remedy: string;
  /** Called with the secrets in use, which replace the earlier ones. */
  readonly onSecrets: (secrets: readonly string[]) => void;
}

export function createSession(place: SignInPlace & Pick<SessionOptions, "onSecrets" | "remedy">): SignInSession {
  const { logger, onSecrets, remedy } = place;
  return new SignInSession({ ...createContext(place), logger, onSecrets, remedy });
}

type SessionHeaders = Readonly<Record<string, string>>;

/** Time after a temporary failure of a renewal during which callers get the same failure. */
const FAILURE_FLOOR_MS = 1000;
/** Pause after a failed renewal, while the old token is still valid. */
const RENEW_AGAIN_MS = 15_000;
/**
 * Time for which a server must repeat the answer "unknown client" before it is accepted, because a server may forget
 * the client temporarily.
 */
const UNKNOWN_AGAIN_MS = 120_000;
/** Maximum number of replaced tokens that are remembered, because requests in flight may still carry them. */
const MAX_OLD_SECRETS = 8;
const NONE: SessionHeaders = Object.freeze({});

/**
 * The sign-in of one owner to one server, at run time. Supplies the token for each request and renews it before it
 * expires, once for all callers and all processes of this data folder, or all hubs of a store. Reports when a user must
 * sign in again.
 */
export class SignInSession implements ChangingCredentials {
  readonly #options: SessionOptions;
  readonly #ending = new AbortController();
  readonly #stored: StoredSignIn;
  #record: SignInRecord | undefined;
  #key: ProofKey | undefined;
  #headers: SessionHeaders = NONE;
  /** Time on the clock of `Date.now()`, because tokens outlive processes. */
  #renewAt = Infinity;
  #endsAt = Infinity;
  #renewing: Promise<void> | undefined;
  #failed: { readonly error: unknown; readonly until: number } | undefined;
  #nonce: string | undefined;
  #secrets: readonly string[] = [];
  /** Access token whose end was already logged, so that it is logged once. */
  #toldOf: string | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { vault } = options;
    this.#stored = new StoredSignIn({ vault, key: keyOf(options), onEnded: (renewed) => this.#revoke(renewed) });
  }

  get isSignedIn(): boolean {
    return this.#record?.tokens !== undefined;
  }

  /** Loads the current state of the vault. Returns true if the tokens differ. */
  async load(): Promise<boolean> {
    if (this.#isMachine) return false;
    const before = this.#record?.tokens?.access;
    this.#adopt(await this.#stored.find());
    return this.#record?.tokens?.access !== before;
  }

  headersFor(sent: SentRequest, signal: Cancellation): SessionHeaders | Promise<SessionHeaders> {
    const now = Date.now();
    if (now < this.#renewAt) return this.#prove(sent);
    if (now < this.#endsAt) {
      // The renewal is not awaited, because the old token is still valid for a while.
      if (!this.#isPausing(now)) this.#renew().catch(() => {});
      return this.#prove(sent);
    }
    return this.#renewedHeaders(sent, signal);
  }

  async refused(refusal: ServerRefusal, signal: Cancellation): Promise<boolean> {
    const { header, status, sent, attempt } = refusal;
    const challenge = readChallenge(status, header("www-authenticate"));
    if (challenge.error === "use_dpop_nonce" && attempt === 0) return this.#noteNonce(header("dpop-nonce"));
    if (status === 403) return this.#widen(challenge, attempt, signal);
    if (this.isSignedIn && sent["authorization"] !== this.#headers["authorization"]) return true;
    if (this.#isMachine) return attempt < 2 && this.#acquired(challenge, signal);
    return (await this.load()) ? this.isSignedIn : this.#renewed(attempt, signal);
  }

  async #renewed(attempt: number, signal: Cancellation): Promise<boolean> {
    const { tokens } = this.#record ?? {};
    if (!tokens) return false;
    if (tokens.refresh === undefined || attempt > 0) throw this.#needsLogin("no longer accepts its token");
    await orAborted(this.#renew(), signal);
    return true;
  }

  answered(header: (name: string) => string | undefined): void {
    if (this.#key) this.#nonce = header("dpop-nonce") ?? this.#nonce;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#renewing?.catch(() => {});
    await this.#options.network.close();
    this.#options.onSecrets([]);
  }

  /** The reason why an earlier sign-in has ended. */
  get endedBecause(): string | undefined {
    return this.#record?.endedBecause;
  }

  get #isMachine(): boolean {
    return this.#options.options.grant !== "authorization_code";
  }

  async #renewedHeaders(sent: SentRequest, signal: Cancellation): Promise<SessionHeaders> {
    if (this.#failed && Date.now() < this.#failed.until) throw this.#failed.error;
    await orAborted(this.#renew(), signal);
    return this.#prove(sent);
  }

  #prove({ method, url }: SentRequest): SessionHeaders {
    const access = this.#record?.tokens?.access;
    if (!this.#key || access === undefined) return this.#headers;
    const proven = { method, url: url.href, access, ...(this.#nonce !== undefined && { nonce: this.#nonce }) };
    return { ...this.#headers, dpop: createProof(this.#key, proven) };
  }

  #noteNonce(nonce: string | undefined): boolean {
    this.#nonce = nonce;
    return nonce !== undefined;
  }

  #isPausing(now: number): boolean {
    return this.#failed !== undefined && now < this.#failed.until - FAILURE_FLOOR_MS + RENEW_AGAIN_MS;
  }

  /** Runs one renewal on behalf of all waiting callers. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewOrNote().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewOrNote(): Promise<void> {
    try {
      await this.#renewOnce();
      this.#failed = undefined;
    } catch (error) {
      this.#failed = { error, until: Date.now() + FAILURE_FLOOR_MS };
      throw error;
    }
  }

  async #renewOnce(): Promise<void> {
    if (this.#isMachine) return this.#acquire(undefined);
    const { vault, person } = this.#options;
    const mine = this.#record;
    if (!mine?.tokens) return;
    const { issuer } = mine.server;
    const lock = createHash("sha256")
      .update(JSON.stringify([issuer, mine.client.id, person]))
      .digest("hex");
    await vault.exclusively(
      `renew-${lock.slice(0, 24)}`,
      async () => {
        const now = await this.#stored.find();
        // If the tokens differ, another process has renewed or ended the sign-in, or the user has signed in again. The
        // stored tokens are then used.
        if (now?.tokens?.access !== mine.tokens?.access) this.#adopt(now);
        else if (now) await this.#redeem(now);
      },
      this.#ending.signal,
    );
    if (this.isSignedIn) return;
    const error = this.#needsLogin(this.endedBecause ?? "is signed out of");
    if (this.#toldOf === mine.tokens.access) markLogged(error.failure);
    throw error;
  }

  async #redeem(record: SignInRecord): Promise<void> {
    const { tokens, resource } = record;
    const refresh = tokens?.refresh;
    if (refresh === undefined) throw this.#needsLogin("has a token that has expired and cannot be renewed");
    const parameters = { refresh_token: refresh, ...(resource !== undefined && { resource }) };
    const redeemed = await redeem("refresh_token", parameters, this.#redeemingOf(record));
    if (redeemed.type === "tokens") return this.#keep(record, { refresh, ...redeemed.tokens });
    if (redeemed.error === "invalid_client") return this.#unknownClient(record);
    if (PASSING.has(redeemed.error))
      throw notNow(this.#options.label, `gets no new token for now (${redeemed.error}). Try again later.`);
    await this.#end(record, `is signed out of (${redeemed.error})`);
  }

  #redeemingOf({ server, client }: SignInRecord): GrantRequest {
    const { network, options } = this.#options;
    return {
      server,
      client,
      network,
      signal: this.#ending.signal,
      ...(this.#key && { key: this.#key }),
      ...(options.privateKey !== undefined && { privateKey: options.privateKey }),
    };
  }

  /** Stores the new tokens. If that fails, they are used anyway, because the old ones may already be invalid. */
  async #keep(record: SignInRecord, tokens: TokenRecord): Promise<void> {
    const { unknownSince: _, ...rest } = record;
    const renewed: SignInRecord = { ...rest, tokens };
    this.#adopt(renewed);
    try {
      // The user may have signed out meanwhile, or signed in again.
      this.#adopt(await this.#stored.renew(record, renewed));
    } catch (error) {
      this.#options.logger.error("A renewed token could not be stored. The hub uses it, and tries again later.", {
        error: messageOf(error),
      });
    }
  }

  /** Revokes tokens that nobody may use, because their user signed out while they were renewed. */
  #revoke(record: SignInRecord): void {
    const token = record.tokens?.refresh ?? record.tokens?.access;
    if (token !== undefined) revoke(token, this.#redeemingOf(record)).catch(() => {});
  }

  /** Removes the refused token, unless another process has already replaced it. */
  async #end(record: SignInRecord, endedBecause: string): Promise<void> {
    const { tokens: _, ...rest } = record;
    const ended = await this.#options.vault.update(keyOf(this.#options), (now) =>
      isSame(now, record) ? { ...rest, endedBecause } : now,
    );
    this.#adopt(ended);
    if (ended?.tokens) return;
    this.#toldOf = record.tokens?.access;
    this.#options.logger.warning(`The sign-in has ended. ${this.#options.remedy}.`);
  }

  async #unknownClient(record: SignInRecord): Promise<void> {
    const { unknownSince } = record;
    if (unknownSince !== undefined && Date.now() - unknownSince >= UNKNOWN_AGAIN_MS) {
      await this.#options.vault.update(keyOf(this.#options), (now) => (isSame(now, record) ? undefined : now));
      this.#adopt(undefined);
      throw this.#needsLogin("is signed out of: its authorization server does not know the hub any more");
    }
    if (unknownSince === undefined)
      await this.#options.vault.update(keyOf(this.#options), (now) =>
        isSame(now, record) ? { ...record, unknownSince: Date.now() } : now,
      );
    throw notNow(this.#options.label, "gets no new token for now: its authorization server answered `invalid_client`.");
  }

  async #widen(challenge: Challenge, attempt: number, signal: Cancellation): Promise<boolean> {
    const { scope, error } = challenge;
    if (error !== "insufficient_scope" || scope === undefined || !this.#record) return false;
    if (this.#isMachine) return attempt === 0 && this.#acquired(challenge, signal);
    // The vault is read again, because the user may have signed in again meanwhile.
    if (attempt === 0 && (await this.load())) return this.isSignedIn;
    const { scopes, wanted: before } = this.#record;
    const isAsked = words(scope).every((word) => scopes.includes(word));
    const tries = isAsked ? (before?.tries ?? 0) : 0;
    const wanted = { scope, tries };
    const noted = await this.#options.vault.update(keyOf(this.#options), (now) => now && { ...now, wanted });
    this.#adopt(noted);
    if (tries >= MAX_WIDENINGS)
      throw needsPerson(
        this.#options.label,
        `refuses this although the scopes ${scope} were requested. Check your rights there.`,
        {
          status: 403,
          scope,
        },
      );
    throw this.#needsLogin(`requires more rights for this (${scope})`, { status: 403, scope });
  }

  async #acquired(challenge: Challenge, signal: Cancellation): Promise<boolean> {
    this.#renewing ??= this.#acquire(challenge).finally(() => {
      this.#renewing = undefined;
    });
    await orAborted(this.#renewing, signal);
    return true;
  }

  async #acquire(challenge: Challenge | undefined): Promise<void> {
    const { options } = this.#options;
    if (options.dpop) this.#key ??= createProofKey();
    const signal = this.#ending.signal;
    this.#adopt(await acquire(this.#options, { known: this.#record, challenge, key: this.#key, signal }));
  }

  #adopt(record: SignInRecord | undefined): void {
    this.#record = record;
    this.#key = record?.key ? proofKeyOf(record.key) : this.#isMachine ? this.#key : undefined;
    const { tokens } = record ?? {};
    this.#headers = tokens ? { authorization: `${this.#key ? tokens.type : "Bearer"} ${tokens.access}` } : NONE;
    const { obtainedAt = 0, lifetimeMs = Infinity } = tokens ?? {};
    this.#endsAt = obtainedAt + lifetimeMs;
    this.#renewAt =
      obtainedAt + Math.min(lifetimeMs * RENEW_SHARE, Math.max(lifetimeMs / 2, lifetimeMs - RENEW_BEFORE_MS));
    const fresh = record ? secretsOf(record).filter((one) => !this.#secrets.includes(one)) : [];
    if (fresh.length === 0) return;
    this.#secrets = [...fresh, ...this.#secrets].slice(0, MAX_OLD_SECRETS);
    this.#options.onSecrets(this.#secrets);
  }

  #needsLogin(why: string, details = {}): FailError {
    const { label, remedy } = this.#options;
    return needsPerson(label, `${why}. ${remedy}.`, details);
  }
}

/** Share of a token's lifetime after which it is renewed, unless the fixed time before its end comes earlier. */
const RENEW_SHARE = 0.8;
const RENEW_BEFORE_MS = 60_000;

/** Error codes after which the grant may still be valid. */
const PASSING: ReadonlySet<string> = new Set([
  "temporarily_unavailable",
  "server_error",
  "slow_down",
  "invalid_request",
]);
