import type { Cancellation } from "../../core/cancellation.ts";
import type { Call } from "../../core/call.ts";
import { loginCommand } from "../../core/login-command.ts";
import type { Credentials, Refusal, Sent } from "../../outbound/client/http-client.ts";
import { readChallenge, type Challenge } from "../../signin/challenge.ts";
import type { SignInPlace } from "../../signin/context.ts";
import type { SignInSession } from "../../signin/session.ts";
import { vaultChangedAt } from "../../signin/vault-place.ts";

export interface SignInGateOptions extends SignInPlace {
  readonly onSecrets: (secrets: readonly string[]) => void;
  /** There is a way in that was not there before. */
  readonly onSignedIn: () => void;
}

/** Without a client that can be asked nothing of it is loaded. */
function mayAsk({ client }: Call): boolean {
  return client.capabilities["elicitation"] !== undefined;
}

type Headers = Readonly<Record<string, string>>;

/** How soon a hub knows of a sign-in that another process has made. */
const LOOK_MS = 2000;
const NONE: Headers = Object.freeze({});

/**
 * The sign-in of one source, as far as there is one: what it takes is loaded with the first token, or with the first
 * server that asks for one where there is a vault.
 */
export class SignInGate implements Credentials {
  readonly #options: SignInGateOptions;
  #session: SignInSession | undefined;
  #opening: Promise<SignInSession> | undefined;
  #signingIn: Promise<boolean> | undefined;
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

  /** The command that begins another. */
  get command(): string {
    return loginCommand(this.#options.label);
  }

  headersFor(sent: Sent, signal: Cancellation): Headers | Promise<Headers> {
    if (this.#session) return this.#session.headersFor(sent, signal);
    if (!this.#opening && !this.#isNeeded) return NONE;
    return this.#open().then((session) => session.headersFor(sent, signal));
  }

  async refused(refusal: Refusal, signal: Cancellation): Promise<boolean> {
    this.#refusal = readChallenge(refusal.status, refusal.header("www-authenticate"));
    this.#look();
    if (!this.#session && !this.#hasVault() && !this.#isMachine) return false;
    return (await this.#open()).refused(refusal, signal);
  }

  /**
   * Has the caller of a call that failed for want of a sign-in sign in, where that can be asked of it. True: the call
   * is worth another try. Callers at the same time wait for one sign-in.
   */
  async signInBy(call: Call): Promise<boolean> {
    if (this.#isMachine || !mayAsk(call)) return false;
    const { canSignInByChat, signInByChat } = await import("../../signin/chat.ts");
    if (!canSignInByChat(call)) return false;
    if (this.#signingIn) return this.#signingIn;
    this.#signingIn = signInByChat(call, { place: this.#options, challenge: this.#refusal }).finally(() => {
      this.#signingIn = undefined;
    });
    const isDone = await this.#signingIn;
    if (isDone) await (await this.#open()).load();
    return isDone;
  }

  answered(header: (name: string) => string | undefined): void {
    this.#session?.answered(header);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#watch);
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  get #isMachine(): boolean {
    return this.#options.options.grant !== "authorization_code";
  }

  /** Known after one look at the file; later on, only a refusal makes it worth another one. */
  get #isNeeded(): boolean {
    if (this.#isMachine) return true;
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
    const session = createSession(this.#options);
    await session.load();
    this.#session = session;
    if (session.isSignedIn) this.#look();
    return session;
  }

  /** From now on it is noticed when somebody signs in or out, whatever process that is. */
  #look(): void {
    if (this.#watch || this.#isClosed || this.#isMachine) return;
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
