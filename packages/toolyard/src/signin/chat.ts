import { whilePersonActs } from "../core/calls/request-to-caller.ts";
import type { Call, Principal } from "../core/calls/call.ts";
import { FailError } from "../core/errors.ts";
import { objectMember } from "../core/json/json.ts";
import { fail } from "../core/calls/outcome.ts";
import { permissionOf } from "../core/ports/rights.ts";
import type { SignInPage, SignInCoordinator } from "../core/ports/sign-in-coordinator.ts";
import { BrowserGuard } from "./browser-guard.ts";
import type { Challenge } from "./challenge.ts";
import { createContext, type SignInPlace } from "./context.ts";
import { deskPlace } from "./coordinator-place.ts";
import { login, type LoginPorts } from "./login.ts";
import { startsOf } from "./sign-in-starts.ts";

export interface PersonSignIn {
  readonly place: SignInPlace;
  /** The server's refusal. */
  readonly challenge: Challenge | undefined;
  /** The hub's own pages. */
  readonly desk: SignInCoordinator | undefined;
  /** Ends the sign-in with its source. */
  readonly closing: AbortSignal;
}

/** The data with which a caller signs in with its own browser. */
export interface SignInLink {
  readonly url: string;
  /** The code to enter there. */
  readonly code: string;
  /** Returns false once it was used or has expired. */
  isOpen(): boolean;
}

const MAX_WAIT_MS = 600_000;

/** Returns whether the caller may sign in for all callers of the hub: a local user with all rights. */
export function isOwner({ id, remote, rights }: Principal): boolean {
  return id === "local" && remote !== true && !permissionOf(rights).isNarrowed;
}

/** Returns whether a caller can be asked to open a link that its browser reaches. */
export function canBeSent(
  { principal, client }: Pick<Call, "principal" | "client">,
  desk?: SignInCoordinator,
): boolean {
  const elicitation = objectMember(client.capabilities, "elicitation");
  const hasLinks = elicitation !== undefined && objectMember(elicitation, "url") !== undefined;
  return hasLinks && (desk?.address !== undefined || isOnThisMachine(principal));
}

/**
 * Returns whether a caller that cannot be asked may get a link that its browser reaches and that outlives its call.
 */
export function canBeGivenLink(
  { principal, client }: Pick<Call, "principal" | "client">,
  desk?: SignInCoordinator,
): boolean {
  // Programs without MCP may end with their call, together with their listener.
  return desk?.address !== undefined || (client.era !== undefined && isOnThisMachine(principal));
}

/** Asks the caller to sign in with a link, and waits for it. Resolves with false if the caller declined. */
export async function signInByChat(call: Call, { place, challenge, desk, closing }: PersonSignIn): Promise<boolean> {
  const guard = new BrowserGuard({ source: place.label, principal: call.principal.id });
  const refused = new AbortController();
  const signal = AbortSignal.any([call.signal, refused.signal, closing, AbortSignal.timeout(MAX_WAIT_MS)]);
  const ask = async (url: string): Promise<void> => {
    const message = `${place.label} requires you to sign in. Open the link, and enter the code ${guard.code} there.`;
    const params = { mode: "url", message, url, elicitationId: guard.path.split("/").at(-1)! };
    const { action } = await call.ask({ method: "elicitation/create", params }, signal);
    if (action !== "accept") refused.abort(new FailError(NOT_WANTED));
  };
  const prepared = await startsOf(place)?.begin(call.principal.id, signal);
  const context = createContext(place);
  try {
    const show = (url: string): Promise<void> => {
      prepared?.();
      // The answer may arrive after the browser has returned, if the client waits for that.
      ask(url).catch((error: unknown) => refused.abort(error));
      return Promise.resolve();
    };
    const ports = { challenge, show, guard, signal, comesBack: backBy(desk, call.principal, place) };
    await whilePersonActs(call, login(context, ports));
    return true;
  } catch (error) {
    if (error instanceof FailError && error.failure === NOT_WANTED) return false;
    throw error;
  } finally {
    prepared?.();
    await context.network.close();
  }
}

/**
 * Starts a sign-in for a user with a browser at the hub's own page, where the user is known; returns the page for that
 * browser. `done` is called when there are tokens.
 */
export function signInByPage(principal: Principal, signIn: PersonSignIn, done: () => void): Promise<SignInPage> {
  return beginSignIn(principal, signIn, { done, show: (guard) => guard.pass() });
}

/** Starts a sign-in for a caller that cannot be asked to open a link, and returns the link. */
export function signInByLink(principal: Principal, signIn: PersonSignIn, done: () => void): Promise<SignInLink> {
  return beginSignIn(principal, signIn, { done, show: linkTo });
}

function linkTo(guard: BrowserGuard, url: string): SignInLink {
  return { url, code: guard.code, isOpen: () => guard.isOpen };
}

interface Background<T> {
  readonly done: () => void;
  readonly show: (guard: BrowserGuard, url: string) => T;
}

/** Resolves when the sign-in is ready for its browser, and continues in the background. Rejects with a `FailError`. */
async function beginSignIn<T>(
  principal: Principal,
  { place, challenge, desk, closing }: PersonSignIn,
  { done, show }: Background<T>,
): Promise<T> {
  const guard = new BrowserGuard({ source: place.label, principal: principal.id });
  const signal = AbortSignal.any([closing, AbortSignal.timeout(MAX_WAIT_MS)]);
  const prepared = await startsOf(place)?.begin(principal.id, signal);
  const context = createContext(place);
  return new Promise((resolve, reject) => {
    const shown = async (url: string): Promise<void> => {
      prepared?.();
      resolve(show(guard, url));
    };
    const work = async (): Promise<void> => {
      try {
        await login(context, { challenge, show: shown, guard, signal, comesBack: backBy(desk, principal, place) });
        done();
      } catch (error) {
        // After the page was shown, its user sees the failure on the next page.
        reject(error as Error);
      } finally {
        prepared?.();
        await context.network.close();
      }
    };
    void work();
  });
}

function backBy(
  desk: SignInCoordinator | undefined,
  { id: principal }: Principal,
  { label: connection }: SignInPlace,
): LoginPorts["comesBack"] {
  return desk?.address === undefined ? undefined : deskPlace(desk, desk.address, { principal, connection });
}

/** Returns whether its browser reaches a listener of this machine. */
function isOnThisMachine({ id, remote }: Principal): boolean {
  return id === "local" && remote !== true;
}

const NOT_WANTED = fail("denied", "The sign-in was declined.");
