import { whileUserActs } from "../core/calls/request-to-caller.ts";
import type { Call, Principal } from "../core/calls/call.ts";
import { FailError } from "../core/errors.ts";
import { objectMember } from "../core/json/json.ts";
import { fail } from "../core/calls/outcome.ts";
import type { SignInPage, SignInCoordinator } from "../core/ports/sign-in-coordinator.ts";
import { BrowserGuard } from "./browser-guard.ts";
import type { Challenge } from "./challenge.ts";
import { createContext, type SignInPlace } from "./context.ts";
import { deskPlace } from "./coordinator-place.ts";
import { login, type LoginPorts } from "./login.ts";
import { startsOf } from "./sign-in-starts.ts";

export interface PersonSignIn {
  readonly place: SignInPlace;
  /** Challenge with which the server refused a request. */
  readonly challenge: Challenge | undefined;
  /** Serves the hub's own pages for sign-ins. */
  readonly desk: SignInCoordinator | undefined;
  /** Aborted when the source closes; ends the sign-in. */
  readonly closing: AbortSignal;
}

/** The data with which a caller signs in with its own browser. */
export interface SignInLink {
  readonly url: string;
  /** Code to enter on the page. */
  readonly code: string;
  /** Returns false once the link was used or has expired. */
  isOpen(): boolean;
}

const MAX_WAIT_MS = 600_000;

/** Returns whether the client can show a link to its user, and the user's browser can reach the link. */
export function canBeSent(
  { principal, client }: Pick<Call, "principal" | "client">,
  desk?: SignInCoordinator,
): boolean {
  const elicitation = objectMember(client.capabilities, "elicitation");
  const hasLinks = elicitation !== undefined && objectMember(elicitation, "url") !== undefined;
  return hasLinks && (desk?.address !== undefined || isOnThisMachine(principal));
}

/**
 * Returns whether a caller whose client cannot show a sign-in request may get a link instead. The user's browser must
 * be able to reach the link, and the link must outlive the call.
 */
export function canBeGivenLink(
  { principal, client }: Pick<Call, "principal" | "client">,
  desk?: SignInCoordinator,
): boolean {
  // If the caller does not use MCP, its process and its listener may end with the call, so the link needs the hub's own
  // page.
  return desk?.address !== undefined || (client.era !== undefined && isOnThisMachine(principal));
}

/** Sends the caller a link to sign in, and waits for the sign-in. Resolves with false if the caller declined. */
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
      // The answer to the request is not awaited, because the client may send it after the browser has returned.
      ask(url).catch((error: unknown) => refused.abort(error));
      return Promise.resolve();
    };
    const ports = { challenge, show, guard, signal, comesBack: backBy(desk, call.principal, place) };
    await whileUserActs(call, login(context, ports));
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
 * Starts a sign-in for a known user with a browser on the hub's own page. Returns the page for that browser. Calls
 * `done` when there are tokens.
 */
export function signInByPage(principal: Principal, signIn: PersonSignIn, done: () => void): Promise<SignInPage> {
  return beginSignIn(principal, signIn, { done, show: (guard) => guard.pass() });
}

/**
 * Starts a sign-in for a caller whose client cannot be asked to open a link, and returns the link. Calls `done` when
 * there are tokens.
 */
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

/**
 * Starts a sign-in. Resolves when it is ready for its browser; the sign-in continues in the background. Rejects with a
 * `FailError`.
 */
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
        // The rejection has no effect after the page was shown. The user then sees the failure on the next page.
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

/** Returns whether the browser of this caller reaches a listener of this machine. */
function isOnThisMachine({ id, remote }: Principal): boolean {
  return id === "local" && remote !== true;
}

const NOT_WANTED = fail("denied", "The sign-in was declined.");
