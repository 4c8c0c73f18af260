import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { Call, Principal } from "../../core/calls/call.ts";
import { loginCommand } from "../../core/text/login-command.ts";
import { orAborted } from "../../core/timing/wait.ts";
import { isHubOwner } from "../../core/ports/sign-in-coordinator.ts";
import type {
  SignInCoordinator,
  SignInSummary,
  SigningCaller,
  SignInPage,
  SignOutResult,
} from "../../core/ports/sign-in-coordinator.ts";
import type { ChangingCredentials, ServerRefusal, SentRequest } from "../../outbound/client/http-client.ts";
import { readChallenge, type Challenge } from "../../signin/challenge.ts";
import type { PersonSignIn, SignInLink } from "../../signin/chat.ts";
import type { SignInPlace } from "../../signin/context.ts";
import type { SignInSession } from "../../signin/session.ts";
import { vaultChangedAt } from "../../signin/vault-place.ts";

export interface SignInGateOptions extends SignInPlace {
  /** The principal, if sign-ins are personal. */
  readonly principal: string | undefined;
  /** Serves the hub's own sign-in pages. */
  readonly desk: SignInCoordinator | undefined;
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** Called when a user has signed in or out. */
  readonly onChanged: () => void;
}

/** Returns whether the caller's client supports elicitation. Only then is the code for it loaded. */
function mayAsk({ client }: Call): boolean {
  return client.capabilities["elicitation"] !== undefined;
}

type CredentialHeaders = Readonly<Record<string, string>>;

/** Maximum time in milliseconds for which a failed call waits for its link. */
const LINK_WAIT_MS = 3000;
/** Interval in milliseconds of checks for a sign-in by another process. */
const LOOK_MS = 2000;
const NONE: CredentialHeaders = Object.freeze({});

/**
 * The sign-in of one source, or of one principal at a source. Its code is loaded when a token exists or, if there is a
 * vault, when a server first requires one.
 */
export class SignInGate implements ChangingCredentials {
  readonly #options: SignInGateOptions;
  #session: SignInSession | undefined;
  #opening: Promise<SignInSession> | undefined;
  #signingIn: Promise<boolean> | undefined;
  /** The link that callers received. It is used until its sign-in is complete. */
  #link: Promise<SignInLink> | undefined;
  readonly #closing = new AbortController();
  #refusal: Challenge | undefined;
  #seenAt: number | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SignInGateOptions) {
    this.#options = options;
  }

  /** The reason why an earlier sign-in has ended. */
  get endedBecause(): string | undefined {
    return this.#session?.endedBecause;
  }

  /** True if the hub fetches the tokens itself, without a user. */
  get isMachine(): boolean {
    return this.#options.options.grant !== "authorization_code";
  }

  /** Advice for the user on how to sign in. */
  get remedy(): string {
    const { label, principal, desk } = this.#options;
    const page = desk?.address === undefined ? "" : ` or at ${desk.address}/sign-in`;
    if (principal === undefined || principal === "local") return `Sign in with \`${loginCommand(label)}\`${page}`;
    return (
      `Sign in yourself: with a client that can open links, or have \`${loginCommand(label)} --as ` +
      `${/^[\w.-]+$/.test(principal) ? principal : JSON.stringify(principal)}\` run on the hub's machine`
    );
  }

  headersFor(sent: SentRequest, signal: Cancellation): CredentialHeaders | Promise<CredentialHeaders> {
    if (this.#session) return this.#session.headersFor(sent, signal);
    if (!this.#opening && !this.#isNeeded) return NONE;
    return this.#open().then((session) => session.headersFor(sent, signal));
  }

  async refused(refusal: ServerRefusal, signal: Cancellation): Promise<boolean> {
    this.#refusal = readChallenge(refusal.status, refusal.header("www-authenticate"));
    this.#look();
    if (!this.#session && !this.#hasVault() && !this.isMachine) return false;
    return (await this.#open()).refused(refusal, signal);
  }

  /**
   * Offers a sign-in to the caller whose call failed because it was not signed in, if its client supports that. Returns
   * true if the call should be repeated. Concurrent callers wait for one sign-in.
   */
  async signInBy(call: Call): Promise<boolean> {
    if (this.isMachine || !mayAsk(call)) return false;
    const { canBeSent, signInByChat } = await import("../../signin/chat.ts");
    const { desk } = this.#options;
    if (!canBeSent(call, desk) || !this.#isFor(call)) return false;
    if (this.#signingIn) return this.#signingIn;
    this.#signingIn = signInByChat(call, this.#signIn)
      .then((isDone) => (isDone ? this.#loadSession() : isDone))
      .finally(() => {
        this.#signingIn = undefined;
      });
    return this.#signingIn;
  }

  /** Starts a sign-in at the hub's own page. Returns `undefined` if this caller may not start it. */
  async begin(caller: SigningCaller): Promise<SignInPage | undefined> {
    if (this.isMachine) return undefined;
    const { signInByPage } = await import("../../signin/chat.ts");
    if (!this.#isFor(caller)) return undefined;
    return signInByPage(caller.principal, this.#signIn, () => this.#noteChange());
  }

  /** Returns the stored sign-in. Returns `undefined` if the hub fetches the tokens itself. */
  async find(): Promise<SignInSummary | "none" | undefined> {
    if (this.isMachine) return undefined;
    if (!this.#hasVault()) return "none";
    const { readSignIn } = await import("../../signin/sign-out.ts");
    return (await readSignIn(this.#options)) ?? "none";
  }

  /** Ends the sign-in. Returns `undefined` if this caller may not end it. */
  async signOut(caller: SigningCaller): Promise<SignOutResult | "none" | undefined> {
    if (this.isMachine) return undefined;
    if (!this.#isFor(caller)) return undefined;
    const { signOut } = await import("../../signin/sign-out.ts");
    const done = (await signOut(this.#options)) ?? "none";
    this.#noteChange();
    return done;
  }

  /**
   * Returns a link for a caller that may sign in but whose client cannot open one. Concurrent callers get the same
   * link. Returns `undefined` if there is none within `LINK_WAIT_MS`.
   */
  async linkFor(call: Call): Promise<SignInLink | undefined> {
    if (this.isMachine) return undefined;
    const { canBeGivenLink, canBeSent } = await import("../../signin/chat.ts");
    const { desk } = this.#options;
    if (canBeSent(call, desk) || !canBeGivenLink(call, desk) || !this.#isFor(call)) return undefined;
    return orAborted(this.#openLink(call.principal), AbortSignal.timeout(LINK_WAIT_MS)).catch(() => undefined);
  }

  /** Returns the earlier link, or a new one if the earlier one has expired. */
  async #openLink(principal: Principal): Promise<SignInLink> {
    const before = this.#link;
    const isOpen = (await before?.catch(() => undefined))?.isOpen() === true;
    if (!isOpen && this.#link === before) this.#link = this.#createLink(principal);
    return this.#link!;
  }

  async #createLink(principal: Principal): Promise<SignInLink> {
    const { signInByLink } = await import("../../signin/chat.ts");
    return signInByLink(principal, this.#signIn, () => this.#noteChange());
  }

  get #signIn(): PersonSignIn {
    const { desk } = this.#options;
    return { place: this.#options, challenge: this.#refusal, desk, closing: this.#closing.signal };
  }

  #noteChange(): void {
    this.#loadSession().then(this.#options.onChanged, () => {});
  }

  answered(header: (name: string) => string | undefined): void {
    this.#session?.answered(header);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort(new Error("The source was closed."));
    clearInterval(this.#watch);
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  /** Returns whether the caller may sign in and out. */
  #isFor({ principal: caller, isAdministrator = false }: SigningCaller): boolean {
    const { principal } = this.#options;
    return principal === undefined ? isAdministrator || isHubOwner(caller) : principal === caller.id;
  }

  async #loadSession(): Promise<true> {
    await (await this.#open()).load();
    return true;
  }

  /**
   * True if requests need a sign-in session: the hub fetches the tokens itself, or a vault file exists. The existence
   * of the file is checked once, and again only after the server has refused a request.
   */
  get #isNeeded(): boolean {
    if (this.isMachine) return true;
    if (this.#seenAt === undefined) this.#hasVault();
    return this.#seenAt !== 0 && !this.#isClosed;
  }

  #hasVault(): boolean {
    const { shared, folder } = this.#options;
    this.#seenAt = shared ? shared.version : vaultChangedAt(folder);
    return this.#seenAt !== 0;
  }

  #open(): Promise<SignInSession> {
    this.#opening ??= this.#create().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #create(): Promise<SignInSession> {
    const { createSession } = await import("../../signin/session.ts");
    const session = createSession({ ...this.#options, remedy: this.remedy });
    await session.load();
    this.#session = session;
    if (session.isSignedIn) this.#look();
    return session;
  }

  /** Starts checking for sign-ins and sign-outs by other processes. */
  #look(): void {
    if (this.#watch || this.#isClosed || this.isMachine) return;
    this.#watch = setInterval(() => void this.#lookAgain().catch(() => {}), LOOK_MS);
    this.#watch.unref();
  }

  async #lookAgain(): Promise<void> {
    const before = this.#seenAt;
    if (!this.#hasVault() || this.#seenAt === before) return;
    const isKnown = this.#session !== undefined;
    const session = await this.#open();
    const hasChanged = isKnown ? await session.load() : session.isSignedIn;
    if (hasChanged && session.isSignedIn) this.#options.onChanged();
  }
}
