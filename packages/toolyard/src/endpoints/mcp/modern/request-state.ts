import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { exactCanonicalJson } from "../../../core/json/digest.ts";

/**
 * Begins every state that this hub itself hands out; what does not begin so belongs to whoever stands behind the call.
 */
const OWN = "toolyard:";
/** Put before a source's state that would be taken for ours: the source may be a hub too. */
const ESCAPE = "toolyard~";

/** What a parked call is bound to: only the same caller, with the same request, may take it up. */
export interface Binding {
  readonly principal: string;
  readonly method: string;
  readonly target: string;
  readonly arguments: unknown;
}

/**
 * Makes and checks the states of parked calls. A state is an unguessable id with a code over it and the binding; all
 * hubs of one secret know the states of each other.
 */
export class RequestStates {
  readonly #key: Uint8Array;

  constructor(secret: Uint8Array) {
    // One key for each use of the secret.
    this.#key = createHmac("sha256", secret).update("requestState").digest();
  }

  seal(binding: Binding): { readonly id: string; readonly state: string } {
    const id = randomBytes(16).toString("base64url");
    return { id, state: `${OWN}${id}.${this.#codeOf(id, binding)}` };
  }

  /**
   * The id of the parked call, or nothing when the state was changed, comes from elsewhere or belongs to another
   * request.
   */
  open(state: string, binding: Binding): string | undefined {
    const [id = "", code = ""] = state.slice(OWN.length).split(".", 2);
    const expected = Buffer.from(`${id}.${this.#codeOf(id, binding)}`);
    const given = Buffer.from(state.slice(OWN.length));
    if (code === "" || expected.length !== given.length) return undefined;
    return timingSafeEqual(expected, given) ? id : undefined;
  }

  #codeOf(id: string, { principal, method, target, arguments: args }: Binding): string {
    // A client may write the members of its arguments in another order the second time.
    const digest = createHash("sha256").update(exactCanonicalJson(args)).digest("base64url");
    return createHmac("sha256", this.#key)
      .update(JSON.stringify([id, principal, method, target, digest]))
      .digest("base64url");
  }
}

export function isOwnState(state: unknown): state is string {
  return typeof state === "string" && state.startsWith(OWN);
}

/** A source's state on its way to the caller. */
export function wrapRelayed(state: string): string {
  return state.startsWith(OWN) || state.startsWith(ESCAPE) ? `${ESCAPE}${state}` : state;
}

/** The same on its way back. */
export function unwrapRelayed(state: string): string {
  return state.startsWith(ESCAPE) ? state.slice(ESCAPE.length) : state;
}
