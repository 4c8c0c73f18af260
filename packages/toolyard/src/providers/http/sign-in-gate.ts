import type { Cancellation } from "../../core/calls/cancellation.ts";
import type { Call, Principal } from "../../core/calls/call.ts";
import { loginCommand } from "../../core/text/login-command.ts";
import { orAborted } from "../../core/timing/wait.ts";
import type { SignInPage, SignInCoordinator } from "../../core/ports/sign-in-coordinator.ts";
import type { ChangingCredentials, ServerRefusal, SentRequest } from "../../outbound/client/http-client.ts";
import { readChallenge, type Challenge } from "../../signin/challenge.ts";
import type { PersonSignIn, SignInLink } from "../../signin/chat.ts";
import type { SignInPlace } from "../../signin/context.ts";
import type { SignInSession } from "../../signin/session.ts";
import { vaultChangedAt } from "../../signin/vault-place.ts";

export interface SignInGateOptions extends SignInPlace {
  /** Whose it is, where each principal signs in for itself. */
  readonly principal: string | undefined;
  /** The hub's own pages. */
  readonly desk: SignInCoordinator | undefined;
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** There is a way in that was not there before. */
  readonly onSignedIn: () => void;
}

/** Without a client that can be asked nothing of it is loaded. */
function mayAsk({ client }: Call): boolean {
  return client.capabilities["elicitation"] !== undefined;
}

type CredentialHeaders = Readonly<Record<string, string>>;

/** How long a call that fails waits for the link that it names. */
const LINK_WAIT_MS = 3000;
/** How soon a hub knows of a sign-in that another process has made. */
const LOOK_MS = 2000;
const NONE: CredentialHeaders = Object.freeze({});

/**
 * The sign-in of one source, or of one person to it, as far as there is one: what it takes is loaded with the first
 * token, or with the first server that asks for one where there is a vault.
 */
export class SignInGate implements ChangingCredentials {
  readonly #options: SignInGateOptions;
  #session: SignInSession | undefined;
  #opening: Promise<SignInSession> | undefined;
  #signingIn: Promise<boolean> | undefined;
  /** The link that was given to callers, while a sign-in by it is awaited. */
  #link: Promise<SignInLink> | undefined;
  readonly #closing = new AbortController();
  #refusal: Challenge | undefined;
  #seenAt: number | undefined;
  #watch: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SignInGateOptions) {
    this.#options = options;
  }

  /** Why a sign-in that there was is over. */
  get endedBecause(): string | undefined {
    return this.#session?.endedBecause;
  }

  /** The hub gets its tokens by itself, and asks no person. */
  get isMachine(): boolean {
    return this.#options.options.grant !== "authorization_code";
  }

  /** What a person does to sign in. */
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
   * Has the caller of a call that failed for want of a sign-in sign in, where that can be asked of it. True: the call
   * is worth another try. Callers at the same time wait for one sign-in.
   */
  async signInBy(call: Call): Promise<boolean> {
    if (this.isMachine || !mayAsk(call)) return false;
    const { canBeSent, isOwner, signInByChat } = await import("../../signin/chat.ts");
    const { desk } = this.#options;
    if (!canBeSent(call, desk) || !this.#isFor(call.principal, isOwner)) return false;
    if (this.#signingIn) return this.#signingIn;
    this.#signingIn = signInByChat(call, this.#signIn)
      .then((isDone) => (isDone ? this.#signedIn() : isDone))
      .finally(() => {
        this.#signingIn = undefined;
      });
    return this.#signingIn;
  }

  /** Begins a sign-in at the hub's own page; nothing where it is not this principal's to make. */
  async begin(principal: Principal): Promise<SignInPage | undefined> {
    if (this.isMachine) return undefined;
    const { isOwner, signInByPage } = await import("../../signin/chat.ts");
    if (!this.#isFor(principal, isOwner)) return undefined;
    return signInByPage(principal, this.#signIn, () => this.#noteSignedIn());
  }

  /**
   * Returns a link for a caller that cannot be asked to open one, and that may sign in. Callers at the same time are
   * given the same link. Undefined if there is none within `LINK_WAIT_MS`.
   */
  async linkFor(call: Call): Promise<SignInLink | undefined> {
    if (this.isMachine) return undefined;
    const { canBeGivenLink, canBeSent, isOwner } = await import("../../signin/chat.ts");
    const { desk } = this.#options;
    if (canBeSent(call, desk) || !canBeGivenLink(call, desk) || !this.#isFor(call.principal, isOwner)) return undefined;
    return orAborted(this.#openLink(call.principal), AbortSignal.timeout(LINK_WAIT_MS)).catch(() => undefined);
  }

  /** The link that was given before, or a new one if that leads nowhere any more. */
  async #openLink(principal: Principal): Promise<SignInLink> {
    const before = this.#link;
    const isOpen = (await before?.catch(() => undefined))?.isOpen() === true;
    if (!isOpen && this.#link === before) this.#link = this.#createLink(principal);
    return this.#link!;
  }

  async #createLink(principal: Principal): Promise<SignInLink> {
    const { signInByLink } = await import("../../signin/chat.ts");
    return signInByLink(principal, this.#signIn, () => this.#noteSignedIn());
  }

  get #signIn(): PersonSignIn {
    const { desk } = this.#options;
    return { place: this.#options, challenge: this.#refusal, desk, closing: this.#closing.signal };
  }

  #noteSignedIn(): void {
    this.#signedIn().then(this.#options.onSignedIn, () => {});
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

  #isFor(caller: Principal, isOwner: (principal: Principal) => boolean): boolean {
    const { principal } = this.#options;
    return principal === undefined ? isOwner(caller) : principal === caller.id;
  }

  async #signedIn(): Promise<true> {
    await (await this.#open()).load();
    return true;
  }

  /** Known after one look at the file; later on, only a refusal makes it worth another one. */
  get #isNeeded(): boolean {
    if (this.isMachine) return true;
    if (this.#seenAt === undefined) this.#hasVault();
    return this.#seenAt !== 0 && !this.#isClosed;
  }

  #hasVault(): boolean {
    this.#seenAt = vaultChangedAt(this.#options.folder);
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

  /** From now on it is noticed when somebody signs in or out, whatever process that is. */
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
    if (hasChanged && session.isSignedIn) this.#options.onSignedIn();
  }
}
