import { whilePersonActs } from "../core/ask-caller.ts";
import type { Call } from "../core/call.ts";
import { FailError } from "../core/errors.ts";
import { objectMember } from "../core/json.ts";
import { fail } from "../core/outcome.ts";
import { EVERYTHING } from "../core/rights.ts";
import { BrowserGuard } from "./browser-guard.ts";
import type { Challenge } from "./challenge.ts";
import { createContext, type SignInPlace } from "./context.ts";
import { login } from "./login.ts";

export interface ChatSignIn {
  readonly place: SignInPlace;
  /** How the server refused. */
  readonly challenge: Challenge | undefined;
}

const MAX_WAIT_MS = 600_000;

/**
 * Whether the caller may sign in for all callers of the hub, and can be asked to open a link: whoever is on this
 * machine, with all rights, at a client that knows links as questions.
 */
export function canSignInByChat({ principal, client }: Pick<Call, "principal" | "client">): boolean {
  const isOwner = principal.id === "local" && principal.remote !== true && principal.rights === EVERYTHING;
  const elicitation = objectMember(client.capabilities, "elicitation");
  return isOwner && elicitation !== undefined && objectMember(elicitation, "url") !== undefined;
}

/** Asks the caller to sign in by a link, and waits until that is done. False: the caller would rather not. */
export async function signInByChat(call: Call, { place, challenge }: ChatSignIn): Promise<boolean> {
  const context = createContext(place);
  const guard = new BrowserGuard({ source: place.label, principal: call.principal.id });
  const refused = new AbortController();
  const signal = AbortSignal.any([call.signal, refused.signal, AbortSignal.timeout(MAX_WAIT_MS)]);
  const ask = async (url: string): Promise<void> => {
    const message = `${place.label} wants you to sign in. Open the link, and give the code ${guard.code} there.`;
    const params = { mode: "url", message, url, elicitationId: guard.path.split("/").at(-1)! };
    const { action } = await call.ask({ method: "elicitation/create", params }, signal);
    if (action !== "accept") refused.abort(new FailError(NOT_WANTED));
  };
  try {
    const show = (url: string): Promise<void> => {
      // The answer may come after the browser is back, where the client waits for that.
      ask(url).catch((error: unknown) => refused.abort(error));
      return Promise.resolve();
    };
    await whilePersonActs(call, login(context, { challenge, show, guard, signal }));
    return true;
  } catch (error) {
    if (error instanceof FailError && error.failure === NOT_WANTED) return false;
    throw error;
  } finally {
    await context.network.close();
  }
}

const NOT_WANTED = fail("denied", "The sign-in was declined.");
