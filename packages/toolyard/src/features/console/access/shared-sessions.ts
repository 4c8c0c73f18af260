import { createHash, timingSafeEqual } from "node:crypto";
import { CodeFlowRefused, type IssuedTokens } from "../../../core/ports/code-flow.ts";
import { objectMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import type { SharedQueues } from "../../../state/ports/shared-queues.ts";
import { SealedRecords } from "./sealed-records.ts";
import {
  createSecret,
  isRenewalDue,
  LINK_MS,
  MAX_LINKS,
  type BrowserSession,
  type NewSession,
  type SessionLimits,
  type Sessions,
  type SignedIn,
} from "./sessions.ts";

/** Default of `refreshMs`. */
const REFRESH_MS = 15_000;
/** Largest default of `extendAfterMs`. */
const EXTEND_AFTER_MS = 60_000;
/** Milliseconds between two looks at a session that another hub renews. */
const LOOK_MS = 100;

/** Authorization servers by name. */
export type FindFlow = (name: string) => Promise<SignedIn["flow"] | undefined>;

export interface SharedSessionsParts extends SessionLimits {
  readonly queues: SharedQueues;
  readonly findFlow: FindFlow;
  /** Milliseconds for which a hub waits while another hub renews the tokens of a session. @default 15 s */
  readonly refreshMs?: number;
  /**
   * Milliseconds after which a request extends its session again. Until then, the session counts as used at its last
   * extension. @default a minute, at most a tenth of `sessionMs`
   */
  readonly extendAfterMs?: number;
}

interface StoredSession {
  readonly authorization: string;
  readonly keyDigest: string;
  readonly tokens?: IssuedTokens;
  /** Name of the authorization server that issued the tokens. */
  readonly flow?: string;
}

/** Browser sessions and sign-in links of all hubs of a store. */
export class SharedSessions implements Sessions {
  readonly #parts: SharedSessionsParts;
  readonly #sessions: SealedRecords;
  readonly #links: SealedRecords;
  /** Renewals of this hub by cookie, so that concurrent requests wait for one answer. */
  readonly #renewals = new Map<string, Promise<void>>();
  readonly #refreshMs: number;
  readonly #extendAfterMs: number;

  constructor(parts: SharedSessionsParts) {
    const { queues, maxSessions, sessionMs } = parts;
    this.#parts = parts;
    this.#extendAfterMs = parts.extendAfterMs ?? Math.min(EXTEND_AFTER_MS, sessionMs / 10);
    this.#refreshMs = parts.refreshMs ?? REFRESH_MS;
    this.#sessions = new SealedRecords({ queues, name: "sessions", max: maxSessions });
    this.#links = new SealedRecords({ queues, name: "links", max: MAX_LINKS });
  }

  async open({ authorization, signedIn }: BrowserSession): Promise<NewSession> {
    const [cookie, key] = [createSecret(), createSecret()];
    const session: StoredSession = { authorization, keyDigest: digestOf(key), ...(signedIn && storedTokens(signedIn)) };
    await this.#sessions.put(cookie, { ...session }, this.#parts.sessionMs);
    return { cookie, key };
  }

  async find(cookie: string, key: string): Promise<BrowserSession | undefined> {
    const { record, leftMs = 0 } = (await this.#sessions.readTimed(cookie)) ?? {};
    const stored = readStored(record);
    if (!stored || !isSame(stored.keyDigest, digestOf(key))) return undefined;
    const { sessionMs } = this.#parts;
    if (sessionMs - leftMs >= this.#extendAfterMs) await this.#sessions.extend(cookie, sessionMs);
    const { authorization, tokens, flow: name } = stored;
    const flow = name === undefined ? undefined : await this.#parts.findFlow(name);
    return { authorization, ...(tokens && flow && { signedIn: { ...tokens, flow } }) };
  }

  async renew(cookie: string): Promise<void> {
    let renewal = this.#renewals.get(cookie);
    if (!renewal) {
      renewal = this.#renew(cookie).finally(() => this.#renewals.delete(cookie));
      this.#renewals.set(cookie, renewal);
    }
    return renewal;
  }

  async #renew(cookie: string): Promise<void> {
    const stored = await this.#read(cookie);
    if (!isDue(stored)) return;
    // A refresh token can be used once, so that only one hub may send it.
    const lock = await this.#sessions.lock(cookie);
    if (!lock) return this.#await(cookie);
    try {
      await this.#refresh(cookie);
    } catch (error) {
      // The token may have expired while the authorization server did not answer.
      if (isExpired(stored)) throw error;
    } finally {
      await lock.release();
    }
  }

  async #refresh(cookie: string): Promise<void> {
    // Another hub may have renewed the tokens since they were read.
    const stored = await this.#read(cookie);
    if (!isDue(stored)) return;
    const { tokens, flow: name = "" } = stored;
    const flow = await this.#parts.findFlow(name);
    if (!flow) return;
    const issued = await flow.refresh(tokens.refreshToken).catch((error: unknown) => {
      if (error instanceof CodeFlowRefused) return undefined;
      throw error;
    });
    if (!issued) return this.#endRefused(cookie, tokens.refreshToken);
    const renewed = { refreshToken: tokens.refreshToken, ...issued };
    const authorization = `Bearer ${renewed.accessToken}`;
    const session: StoredSession = { authorization, keyDigest: stored.keyDigest, tokens: renewed, flow: name };
    // The user may have signed out meanwhile.
    if (await this.#sessions.replace(cookie, { ...session }, this.#parts.sessionMs)) return;
    void flow.revoke(renewed.refreshToken);
  }

  /** Ends a session whose refresh token was refused, unless another hub has stored a new one meanwhile. */
  async #endRefused(cookie: string, refused: string): Promise<void> {
    if ((await this.#read(cookie))?.tokens?.refreshToken === refused) await this.#sessions.take(cookie);
  }

  /**
   * Waits while another hub renews the tokens. Rejects if they were not renewed and have expired, because an expired
   * token would end the session.
   */
  async #await(cookie: string): Promise<void> {
    const until = performance.now() + this.#refreshMs;
    let [isRenewing, stored]: [boolean, StoredSession | undefined] = [true, undefined];
    while (isRenewing && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      // The lock is read before the session, because a hub stores the tokens before it unlocks.
      isRenewing = await this.#sessions.isLocked(cookie);
      stored = await this.#read(cookie);
      if (!isDue(stored)) return;
    }
    if (isExpired(stored)) throw new Error("Another hub has not renewed the access token of the session. Try again.");
  }

  async isOpen(cookie: string): Promise<boolean> {
    return (await this.#read(cookie)) !== undefined;
  }

  async end(cookie: string): Promise<void> {
    const { tokens, flow: name } = readStored(await this.#sessions.take(cookie)) ?? {};
    if (!tokens || name === undefined) return;
    const flow = await this.#parts.findFlow(name);
    void flow?.revoke(tokens.refreshToken ?? tokens.accessToken);
  }

  async createLink(authorization: string): Promise<string> {
    const code = createSecret();
    await this.#links.put(code, { authorization }, LINK_MS);
    return code;
  }

  async useLink(code: string): Promise<BrowserSession | undefined> {
    const authorization = stringMember((await this.#links.take(code)) ?? {}, "authorization");
    return authorization === undefined ? undefined : { authorization };
  }

  async #read(cookie: string): Promise<StoredSession | undefined> {
    return readStored(await this.#sessions.read(cookie));
  }
}

function storedTokens({ flow, ...tokens }: SignedIn): Pick<StoredSession, "tokens" | "flow"> {
  return { tokens, flow: flow.name };
}

function readStored(record: JsonObject | undefined): StoredSession | undefined {
  const [authorization, keyDigest] = [
    stringMember(record ?? {}, "authorization"),
    stringMember(record ?? {}, "keyDigest"),
  ];
  if (!record || authorization === undefined || keyDigest === undefined) return undefined;
  const tokens = objectMember(record, "tokens") as IssuedTokens | undefined;
  const flow = stringMember(record, "flow");
  return { authorization, keyDigest, ...(tokens && { tokens }), ...(flow !== undefined && { flow }) };
}

function isDue(stored: StoredSession | undefined): stored is DueSession {
  return stored?.tokens !== undefined && isRenewalDue(stored.tokens);
}

type DueSession = StoredSession & { readonly tokens: { readonly refreshToken: string } };

function isExpired(stored: StoredSession | undefined): boolean {
  return (stored?.tokens?.expiresAt ?? Infinity) <= Date.now();
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
