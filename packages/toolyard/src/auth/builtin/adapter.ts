import type { JsonObject } from "../../core/json/json.ts";
import { GrantRevokedError, type ReuseRule } from "../../state/ports/auth-state.ts";
import { PROOF_WINDOW_MS } from "../dpop/proof-window.ts";
import type { ClientRegistry } from "./client-registry.ts";
import { aliasOf, digestForId, type RecordStore } from "./record-store.ts";

/** Interface through which `oidc-provider` stores its models. */
export interface ModelAdapter {
  upsert(id: string, payload: JsonObject, expiresIn?: number): Promise<void>;
  find(id: string): Promise<JsonObject | undefined>;
  findByUid(uid: string): Promise<JsonObject | undefined>;
  findByUserCode(code: string): Promise<JsonObject | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/** Time during which a used refresh token may be used again, for a client that did not receive the response. */
export const GRACE_MS = 30_000;
/** Maximum number of uses within `GRACE_MS`, after the first one. */
export const MAX_GRACE_USES = 2;
const GRACE: ReuseRule = { graceMs: GRACE_MS, maxUses: MAX_GRACE_USES };
const ONCE: ReuseRule = { graceMs: 0, maxUses: 0 };

export interface AdapterParts {
  readonly model: string;
  readonly store: RecordStore;
  readonly now: () => number;
  /** Removes all tokens of a grant, after one of its codes or tokens was used again. */
  readonly revokeGrant: (grantId: string) => Promise<void>;
  /** Creates the error for a code or token that was used before. */
  readonly usedBefore: () => Error;
}

/** Stores one model in its record store. */
export class RecordAdapter implements ModelAdapter {
  readonly #parts: AdapterParts;

  constructor(parts: AdapterParts) {
    this.#parts = parts;
  }

  async upsert(id: string, payload: JsonObject, expiresIn?: number): Promise<void> {
    const { store, now, usedBefore } = this.#parts;
    try {
      await store.write(id, withDigest(payload), expiresIn === undefined ? undefined : now() + expiresIn * 1000);
    } catch (error) {
      throw error instanceof GrantRevokedError ? usedBefore() : error;
    }
  }

  async find(id: string): Promise<JsonObject | undefined> {
    const payload = await this.#parts.store.find(id);
    if (payload && this.#parts.model === "RefreshToken") return this.#withGrace(payload);
    return payload && withDeviceCode(payload);
  }

  findByUid(uid: string): Promise<JsonObject | undefined> {
    return this.#parts.store.search("uid", uid);
  }

  findByUserCode(code: string): Promise<JsonObject | undefined> {
    return this.#parts.store.searchWithAlias("userCode", code);
  }

  /**
   * Uses a code or token in one step, because the library has looked it up before, and another request may have used it
   * since then. A use that is not permitted revokes the grant, like the library does.
   */
  async consume(id: string): Promise<void> {
    const { store, model, revokeGrant, usedBefore } = this.#parts;
    const use = await store.use(id, model === "RefreshToken" ? GRACE : ONCE);
    if (use === "used") return;
    const grantId = use === "reused" ? (await store.find(id))?.["grantId"] : undefined;
    if (typeof grantId === "string") await revokeGrant(grantId);
    throw usedBefore();
  }

  destroy(id: string): Promise<void> {
    return this.#parts.store.remove(id);
  }

  revokeByGrantId(grantId: string): Promise<void> {
    return this.#parts.store.removeBy("grantId", grantId);
  }

  /**
   * Removes the mark "consumed" from a recently used refresh token, so that a client that did not receive the response
   * can retry. The library then checks that the token belongs to the client; `consume` counts the use.
   */
  #withGrace(payload: JsonObject): JsonObject {
    const { consumed, graceUses = 0 } = payload;
    if (typeof consumed !== "number") return payload;
    if (this.#parts.now() - consumed * 1000 > GRACE_MS || Number(graceUses) >= MAX_GRACE_USES) return payload;
    const { consumed: _, ...fresh } = payload;
    return fresh;
  }
}

/** Replaces the device code of a pending sign-in by its digest, because what is stored must not contain the code. */
function withDigest(payload: JsonObject): JsonObject {
  const { deviceCode, ...rest } = payload;
  return typeof deviceCode === "string" ? { ...rest, deviceDigest: digestForId(deviceCode) } : payload;
}

function withDeviceCode(payload: JsonObject): JsonObject {
  const { deviceDigest, ...rest } = payload;
  return typeof deviceDigest === "string" ? { ...rest, deviceCode: aliasOf(deviceDigest) } : payload;
}

/**
 * Records the DPoP proofs that `oidc-provider` has accepted. The library looks up a proof first and stores it later.
 * The look-up already records the proof, because two concurrent requests could otherwise use the same one.
 */
export class ReplayAdapter implements ModelAdapter {
  readonly #store: RecordStore;
  readonly #now: () => number;

  constructor(store: RecordStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async find(id: string): Promise<JsonObject | undefined> {
    // A proof may be issued up to `PROOF_WINDOW_MS` in the future, and is valid for the same time after that.
    const isFirst = await this.#store.claim(id, this.#now() + 2 * PROOF_WINDOW_MS);
    return isFirst ? undefined : { jti: id };
  }

  upsert(): Promise<void> {
    return Promise.resolve();
  }

  findByUid = refuse;
  findByUserCode = refuse;
  consume = refuse;
  destroy = refuse;
  revokeByGrantId = refuse;
}

/** Stores registered clients. */
export class ClientAdapter implements ModelAdapter {
  readonly #registry: ClientRegistry;

  constructor(registry: ClientRegistry) {
    this.#registry = registry;
  }

  async upsert(id: string, payload: JsonObject): Promise<void> {
    await this.#registry.write(id, payload);
  }

  find(id: string): Promise<JsonObject | undefined> {
    return this.#registry.find(id);
  }

  async destroy(id: string): Promise<void> {
    await this.#registry.remove(id);
  }

  findByUid = refuse;
  findByUserCode = refuse;
  consume = refuse;
  revokeByGrantId = refuse;
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("This model has none of these."));
}
