import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { exactCanonicalJson } from "../../../core/json/digest.ts";

/** Prefix of every state that the hub creates. A state without it comes from the source that handles the call. */
const OWN = "toolyard:";
/**
 * Prefix that is added to a source's state if it looks like a state of this hub, because the source may be a hub too.
 */
const ESCAPE = "toolyard~";

/** Data to which a parked call is bound: only the same caller with the same request may continue it. */
export interface Binding {
  readonly principal: string;
  readonly method: string;
  readonly target: string;
  readonly arguments: unknown;
}

/**
 * Creates and verifies the states of parked calls. A state is an unguessable id with a MAC over the id and the binding.
 * All hubs with the same secret accept each other's states.
 */
export class RequestStates {
  readonly #secret: () => Uint8Array;
  #keyed: { readonly secret: Uint8Array; readonly key: Uint8Array } | undefined;

  /** `secret` returns the current secret. It changes only if the store lost its data. */
  constructor(secret: () => Uint8Array) {
    this.#secret = secret;
  }

  seal(binding: Binding): { readonly id: string; readonly state: string } {
    const id = randomBytes(16).toString("base64url");
    return { id, state: `${OWN}${id}.${this.#codeOf(id, binding)}` };
  }

  /**
   * Returns the id of the parked call. Returns `undefined` if the state was altered, is from another store, or belongs
   * to another request.
   */
  open(state: string, binding: Binding): string | undefined {
    const [id = "", code = ""] = state.slice(OWN.length).split(".", 2);
    const expected = Buffer.from(`${id}.${this.#codeOf(id, binding)}`);
    const given = Buffer.from(state.slice(OWN.length));
    if (code === "" || expected.length !== given.length) return undefined;
    return timingSafeEqual(expected, given) ? id : undefined;
  }

  get #key(): Uint8Array {
    const secret = this.#secret();
    // The secret has several uses, each with a separate key.
    if (this.#keyed?.secret !== secret)
      this.#keyed = { secret, key: createHmac("sha256", secret).update("requestState").digest() };
    return this.#keyed.key;
  }

  #codeOf(id: string, { principal, method, target, arguments: args }: Binding): string {
    // Members are sorted first, because a client may change the order of the members in its arguments.
    const digest = createHash("sha256").update(exactCanonicalJson(args)).digest("base64url");
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([id, principal, method, target, digest]))
      .digest("base64url");
  }
}

export function isOwnState(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(OWN);
}

/** Returns the id in a state of a hub. The state is not verified. */
export function idOf(state: string): string {
  return state.slice(OWN.length).split(".", 1)[0]!;
}

/** Wraps a source's state before the caller gets it. */
export function wrapRelayed(state: string): string {
  return state.startsWith(OWN) || state.startsWith(ESCAPE) ? `${ESCAPE}${state}` : state;
}

/** Restores a source's state before the source gets it. */
export function unwrapRelayed(state: string): string {
  return state.startsWith(ESCAPE) ? state.slice(ESCAPE.length) : state;
}
