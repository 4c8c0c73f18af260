import { whilePersonActs } from "../core/ask-caller.ts";
import type { Call, Principal } from "../core/call.ts";
import { FailError } from "../core/errors.ts";
import { objectMember } from "../core/json.ts";
import { fail } from "../core/outcome.ts";
import { permissionOf } from "../core/rights.ts";
import type { Page, SignInDesk } from "../core/sign-in-desk.ts";
import { BrowserGuard } from "./browser-guard.ts";
import type { Challenge } from "./challenge.ts";
import { createContext, type SignInPlace } from "./context.ts";
import { deskPlace } from "./desk-place.ts";
import { login, type LoginPorts } from "./login.ts";

export interface PersonSignIn {
  readonly place: SignInPlace;
  /** How the server refused. */
  readonly challenge: Challenge | undefined;
  /** The hub's own pages. */
  readonly desk: SignInDesk | undefined;
}

const MAX_WAIT_MS = 600_000;

/** Whether whoever calls may sign in for all callers of the hub: somebody on this machine, with all rights. */
export function isOwner({ id, remote, rights }: Principal): boolean {
  return id === "local" && remote !== true && !permissionOf(rights).isNarrowed;
}

/** Whether a caller can be asked to open a link that its browser reaches. */
export function canBeSent({ principal, client }: Pick<Call, "principal" | "client">, desk?: SignInDesk): boolean {
  const elicitation = objectMember(client.capabilities, "elicitation");
  const hasLinks = elicitation !== undefined && objectMember(elicitation, "url") !== undefined;
  return hasLinks && (desk?.address !== undefined || isOnThisMachine(principal));
}

/** Asks the caller to sign in by a link, and waits until that is done. False: the caller would rather not. */
export async function signInByChat(call: Call, { place, challenge, desk }: PersonSignIn): Promise<boolean> {
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
    const ports = { challenge, show, guard, signal, comesBack: backBy(desk) };
    await whilePersonActs(call, login(context, ports));
    return true;
  } catch (error) {
    if (error instanceof FailError && error.failure === NOT_WANTED) return false;
    throw error;
  } finally {
    await context.network.close();
  }
}

/**
 * Begins a sign-in for somebody whose browser is at the hub's own page, and is known there: what that browser is sent.
 * `done` hears that there are tokens.
 */
export async function signInByPage(
  principal: Principal,
  { place, challenge, desk }: PersonSignIn,
  done: () => void,
): Promise<Page> {
  const context = createContext(place);
  const guard = new BrowserGuard({ source: place.label, principal: principal.id });
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  return new Promise((resolve, reject) => {
    const show = async (): Promise<void> => resolve(guard.pass());
    const work = async (): Promise<void> => {
      try {
        await login(context, { challenge, show, guard, signal, comesBack: backBy(desk) });
        done();
      } catch (error) {
        // Once its page was shown, whoever sits there reads it on the next.
        reject(error as Error);
      } finally {
        await context.network.close();
      }
    };
    void work();
  });
}

function backBy(desk: SignInDesk | undefined): LoginPorts["comesBack"] {
  return desk?.address === undefined ? undefined : deskPlace(desk, desk.address);
}

/** Its browser reaches a listener of this machine. */
function isOnThisMachine({ id, remote }: Principal): boolean {
  return id === "local" && remote !== true;
}

const NOT_WANTED = fail("denied", "The sign-in was declined.");
