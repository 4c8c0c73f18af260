import { orAborted } from "../core/timing/wait.ts";
import type { OAuthOptions } from "../outbound/credentials/oauth.ts";
import { prepare, redeemingOf, save, situationOf, type PreparedSignIn } from "./prepared-sign-in.ts";
import { begin, codeIn, type Begun } from "./authorization.ts";
import type { BrowserGuard } from "./browser-guard.ts";
import type { Challenge } from "./challenge.ts";
import type { LoginContext } from "./context.ts";
import type { DiscoveredServer } from "./discovery.ts";
import { needsPerson } from "./failures.ts";
import { bindIssuer } from "./issuer-binding.ts";
import { redeem } from "./grants.ts";
import type { ClientRecord, SignInRecord, TokenRecord } from "./records.ts";
import {
  RedirectListener,
  type Handlers,
  type OpenPlace,
  type RedirectPlace,
  type RedirectMessage,
} from "./redirect.ts";

export interface LoginPorts {
  /** Challenge with which the server refused a request without a token, if it did. */
  readonly challenge?: Challenge | undefined;
  /** Shows the user an address; resolves without waiting for the result. */
  readonly show: (address: string) => Promise<void>;
  /** Returns the text that a user pasted instead of the browser's redirect. Called again after an invalid text. */
  readonly pasted?: (signal: AbortSignal) => Promise<string>;
  /**
   * Guard of the sign-in. If present, its page is shown first, and the authorization response must come from the
   * browser that passed it.
   */
  readonly guard?: BrowserGuard;
  /** Address to which the browser returns. @default a listener on this machine */
  readonly comesBack?: OpenPlace | undefined;
  readonly signal: AbortSignal;
}

/**
 * Signs in one user with the browser: from the server's metadata to tokens in the vault. Rejects with a `FailError`; an
 * earlier record then stays unchanged.
 */
export async function login(context: LoginContext, ports: LoginPorts): Promise<SignInRecord> {
  const situation = await situationOf(context, ports.challenge);
  assertBrowserFlow(context, situation.found);
  const answers = new Answers();
  const displaced = new AbortController();
  const signal = AbortSignal.any([ports.signal, displaced.signal]);
  const open = ports.comesBack ?? ((handlers: Handlers) => openListener(context.options, situation.client, handlers));
  const place = await open({
    onRedirect: (parameters) => answers.take(parameters),
    isAnswer: (parameters) => answers.knows(parameters),
    guard: ports.guard,
    onDisplaced: () =>
      displaced.abort(needsPerson(context.label, "has newer sign-ins that wait for a browser, so this one ended.")),
  });
  try {
    const prepared = await prepare(context, situation, place.uri);
    const { found, client, scopes } = prepared;
    const begun = await begin({ ...found, client, scopes, redirectUri: place.uri });
    const result = answers.first(begun, async (parameters) => {
      const tokens = await tokensFor(parameters, { context, prepared, begun, signal });
      return save(context, prepared, tokens);
    });
    const { href } = context.network.checked(begun.address);
    ports.guard?.leadTo(href, place.uri);
    await place.expects?.(begun.state);
    await ports.show(ports.guard ? place.at(ports.guard.path) : href);
    void paste({ ...ports, signal }, answers);
    return await orAborted(result, signal);
  } finally {
    await place.close();
  }
}

/**
 * Throws unless the server supports PKCE. Without PKCE, a code of another user could be injected into this sign-in.
 */
function assertBrowserFlow({ label }: LoginContext, { server }: DiscoveredServer): void {
  const methods: unknown = server.code_challenge_methods_supported;
  if (server.authorization_endpoint === undefined)
    throw needsPerson(label, `cannot be signed in to by a browser: ${server.issuer} has no page for that.`);
  if (Array.isArray(methods) && methods.includes("S256")) return;
  throw needsPerson(
    label,
    `is not signed in to: ${server.issuer} does not announce PKCE with S256, which is required.`,
  );
}

function openListener(
  { redirectHost: host, redirectPort }: OAuthOptions,
  known: ClientRecord | undefined,
  handlers: Handlers,
): Promise<RedirectPlace> {
  const before = known?.redirectUri === undefined ? undefined : Number(new URL(known.redirectUri).port);
  return RedirectListener.open({ host, port: redirectPort ?? before, isFixed: redirectPort !== undefined }, handlers);
}

/**
 * Collects authorization responses from the browser or pasted by the user. The first one with this sign-in's state is
 * used.
 */
class Answers {
  #begun: Begun | undefined;
  #work: ((parameters: URLSearchParams) => Promise<SignInRecord>) | undefined;
  #settle: { resolve(record: SignInRecord): void; reject(error: unknown): void } | undefined;

  first(begun: Begun, work: (parameters: URLSearchParams) => Promise<SignInRecord>): Promise<SignInRecord> {
    this.#begun = begun;
    this.#work = work;
    const result = new Promise<SignInRecord>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Prevents an unhandled rejection, because showing the address may fail before any code waits for the response.
    result.catch(() => {});
    return result;
  }

  knows(parameters: URLSearchParams): boolean {
    return this.#begun !== undefined && parameters.get("state") === this.#begun.state;
  }

  /**
   * Accepts a response and returns the message for the user; `undefined` if it is not the first response to this
   * sign-in.
   */
  take(parameters: URLSearchParams): Promise<RedirectMessage> | undefined {
    const work = this.#work;
    if (!work || !this.knows(parameters)) return undefined;
    this.#work = undefined;
    return work(parameters).then(
      (record) => {
        this.#settle?.resolve(record);
        return { ok: true, text: `Signed in to ${record.source}. You can close this page.` };
      },
      (error: unknown) => {
        this.#settle?.reject(error);
        return { ok: false, text: "The sign-in failed. The terminal in which you started it shows the reason." };
      },
    );
  }
}

async function paste({ pasted, signal }: LoginPorts, answers: Answers): Promise<void> {
  if (!pasted) return;
  for (let tries = 0; tries < MAX_PASTES; tries += 1) {
    const text = await pasted(signal).catch(() => undefined);
    if (text === undefined || (await answers.take(parametersIn(text)))) return;
  }
}

const MAX_PASTES = 20;

/** Parses the address at which the browser ended, or only its query. */
function parametersIn(text: string): URLSearchParams {
  const trimmed = text.trim();
  return URL.canParse(trimmed) ? new URL(trimmed).searchParams : new URLSearchParams(trimmed);
}

interface CodeExchange {
  readonly context: LoginContext;
  readonly prepared: PreparedSignIn;
  readonly begun: Begun;
  readonly signal: AbortSignal;
}

async function tokensFor(
  parameters: URLSearchParams,
  { context, prepared, begun, signal }: CodeExchange,
): Promise<TokenRecord> {
  const { label } = context;
  const { server, resource } = prepared.found;
  const code = codeIn(parameters, { label, server, client: prepared.client, begun });
  await bindIssuer(context, prepared.found);
  const redeemed = await redeem(
    "authorization_code",
    { code, redirect_uri: begun.redirectUri, code_verifier: begun.verifier, resource },
    redeemingOf(context, prepared, signal),
  );
  if (redeemed.type === "tokens") return redeemed.tokens;
  throw needsPerson(label, `is not signed in to: ${server.issuer} gave no token for the code (${redeemed.error}).`);
}
