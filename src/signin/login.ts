import { orAborted } from "../core/wait.ts";
import type { OAuthOptions } from "../outbound/credentials/oauth.ts";
import { begin, codeIn, type Asked, type Begun } from "./authorization.ts";
import type { BrowserGuard } from "./browser-guard.ts";
import type { Challenge } from "./challenge.ts";
import { discover, type Discovered } from "./discovery.ts";
import { createProofKey, proofKeyOf, type ProofKey } from "./dpop.ts";
import { needsPerson } from "./failures.ts";
import { redeem, type Redeeming } from "./grants.ts";
import type { SignInNetwork } from "./network.ts";
import type { ClientRecord, RecordKey, SignInRecord, TokenRecord } from "./records.ts";
import { RedirectListener, type Handlers, type Shown } from "./redirect.ts";
import { clientFor } from "./registration.ts";
import { scopesToAsk } from "./scopes.ts";
import type { Vault } from "./vault.ts";

export interface LoginContext {
  /** Id of the source. */
  readonly label: string;
  readonly url: URL;
  readonly options: OAuthOptions;
  readonly person: string;
  readonly vault: Vault;
  readonly network: SignInNetwork;
}

export interface LoginPorts {
  /** How the server refused a request without a token, if it did. */
  readonly challenge?: Challenge | undefined;
  /** Takes the person to an address; resolves without waiting for what becomes of that. */
  readonly show: (address: string) => Promise<void>;
  /** What a person pasted in place of the browser's coming back; asked again after something that is no answer. */
  readonly pasted?: (signal: AbortSignal) => Promise<string>;
  /** Present: what is shown is its page, and the answer has to come from the browser that went through it. */
  readonly guard?: BrowserGuard;
  readonly signal: AbortSignal;
}

/** How often more rights are asked for that the server then refuses all the same. */
export const MAX_WIDENINGS = 2;

/**
 * One sign-in of a person by the browser, from what the server says to tokens in the vault. Rejects with a `FailError`;
 * the record that was there before stays as it was then.
 */
export async function login(context: LoginContext, ports: LoginPorts): Promise<SignInRecord> {
  const before = await context.vault.find(keyOf(context));
  assertWidens(context, before);
  const found = await discover(targetOf(context), ports.challenge, context.network);
  assertBrowserFlow(context, found);
  // What was known at another issuer is of no use here.
  const known = before?.server.issuer === found.server.issuer ? before : undefined;
  const answers = new Answers();
  const listener = await openListener(context.options, known?.client, {
    onRedirect: (parameters) => answers.take(parameters),
    guard: ports.guard,
  });
  try {
    const asked = await askedOf(context, { found, known, redirectUri: listener.uri, challenge: ports.challenge });
    const begun = await begin(asked);
    const key = keyFor(context.options, known);
    const { signal } = ports;
    const result = answers.first(begun, async (parameters) => {
      const tokens = await tokensFor(parameters, { ...context, ...asked, begun, key, signal });
      return save(context, { found, client: asked.client, scopes: asked.scopes, tokens, key });
    });
    const { href } = context.network.checked(begun.address);
    ports.guard?.leadTo(href);
    await ports.show(ports.guard ? new URL(ports.guard.path, listener.uri).href : href);
    void paste(ports, answers);
    return await orAborted(result, signal);
  } finally {
    await listener.close();
  }
}

function assertWidens({ label }: LoginContext, before: SignInRecord | undefined): void {
  const { scope, tries } = before?.wanted ?? { scope: "", tries: 0 };
  if (tries < MAX_WIDENINGS) return;
  throw needsPerson(
    label,
    `was signed in to ${MAX_WIDENINGS} times for the scopes ${scope} and refuses all the same. ` +
      "Look there whether you have these rights; `toolyard logout` lets you begin anew.",
  );
}

/** Without PKCE somebody else's code could be taken for one of this sign-in. */
function assertBrowserFlow({ label }: LoginContext, { server }: Discovered): void {
  const methods: unknown = server.code_challenge_methods_supported;
  if (server.authorization_endpoint === undefined)
    throw needsPerson(label, `cannot be signed in to by a browser: ${server.issuer} has no page for that.`);
  if (Array.isArray(methods) && methods.includes("S256")) return;
  throw needsPerson(label, `is not signed in to: ${server.issuer} does not announce PKCE with S256, which must be.`);
}

interface Situation {
  readonly found: Discovered;
  readonly known: SignInRecord | undefined;
  readonly redirectUri: string;
  readonly challenge: Challenge | undefined;
}

async function askedOf(
  { options, network }: LoginContext,
  { found, known, redirectUri, challenge }: Situation,
): Promise<Asked> {
  const { server } = found;
  const client = await clientFor({ server, options, network, redirectUri, known: known?.client });
  const challenged = known?.wanted?.scope ?? challenge?.scope;
  const before = known?.wanted ? known.scopes : [];
  const scopes = scopesToAsk({ configured: options.scopes, challenged, described: found.scopes, before }, server);
  return { server, client, resource: found.resource, scopes, redirectUri };
}

function keyFor({ dpop }: OAuthOptions, known: SignInRecord | undefined): ProofKey | undefined {
  if (!dpop) return undefined;
  return known?.key ? proofKeyOf(known.key) : createProofKey();
}

/** The record of this source and person. */
export function keyOf({ label, url, person }: Pick<LoginContext, "label" | "url" | "person">): RecordKey {
  return { source: label, url: url.href, person };
}

export function targetOf({ label, url, options }: Pick<LoginContext, "label" | "url" | "options">): {
  readonly label: string;
  readonly url: URL;
  readonly issuer?: string;
  readonly resource?: string;
} {
  const { issuer, resource } = options;
  return { label, url, ...(issuer !== undefined && { issuer }), ...(resource !== undefined && { resource }) };
}

function openListener(
  { redirectHost: host, redirectPort }: OAuthOptions,
  known: ClientRecord | undefined,
  handlers: Handlers,
): Promise<RedirectListener> {
  const before = known?.redirectUri === undefined ? undefined : Number(new URL(known.redirectUri).port);
  return RedirectListener.open({ host, port: redirectPort ?? before, isFixed: redirectPort !== undefined }, handlers);
}

/** Answers as they come, by the browser or by hand: the first that has this sign-in's state is the answer. */
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
    // Whoever shows the address may fail before anybody waits for the answer.
    result.catch(() => {});
    return result;
  }

  /** What the person reads of it; nothing where it is no answer to this sign-in, or not the first. */
  take(parameters: URLSearchParams): Promise<Shown> | undefined {
    const work = this.#work;
    if (!work || parameters.get("state") !== this.#begun?.state) return undefined;
    this.#work = undefined;
    return work(parameters).then(
      (record) => {
        this.#settle?.resolve(record);
        return { ok: true, text: `Signed in to ${record.source}. You can close this page.` };
      },
      (error: unknown) => {
        this.#settle?.reject(error);
        return { ok: false, text: "The sign-in did not succeed. Where you began it stands why." };
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

/** The whole address that the browser ended at, or its query alone. */
function parametersIn(text: string): URLSearchParams {
  const trimmed = text.trim();
  return URL.canParse(trimmed) ? new URL(trimmed).searchParams : new URLSearchParams(trimmed);
}

interface Exchanging extends LoginContext, Asked {
  readonly begun: Begun;
  readonly key: ProofKey | undefined;
  readonly signal: AbortSignal;
}

async function tokensFor(parameters: URLSearchParams, exchanging: Exchanging): Promise<TokenRecord> {
  const { begun, resource, redirectUri, label, server } = exchanging;
  const code = codeIn(parameters, exchanging);
  const redeemed = await redeem(
    "authorization_code",
    { code, redirect_uri: redirectUri, code_verifier: begun.verifier, resource },
    redeemingOf(exchanging),
  );
  if (redeemed.type === "tokens") return redeemed.tokens;
  throw needsPerson(label, `is not signed in to: ${server.issuer} gave no token for the code (${redeemed.error}).`);
}

function redeemingOf({ server, client, network, key, options, signal }: Exchanging): Redeeming {
  return {
    server,
    client,
    network,
    signal,
    ...(key && { key }),
    ...(options.privateKey !== undefined && { privateKey: options.privateKey }),
  };
}

interface Signed {
  readonly found: Discovered;
  readonly client: ClientRecord;
  readonly scopes: readonly string[];
  readonly tokens: TokenRecord;
  readonly key: ProofKey | undefined;
}

async function save(context: LoginContext, { found, client, scopes, tokens, key }: Signed): Promise<SignInRecord> {
  const own = keyOf(context);
  const saved = await context.vault.update(own, (before) => {
    const wanted = before?.wanted && { ...before.wanted, tries: before.wanted.tries + 1 };
    const { server, resource } = found;
    return {
      ...own,
      server,
      resource,
      client,
      scopes,
      tokens,
      ...(wanted && { wanted }),
      ...(key && { key: key.jwk }),
    };
  });
  return saved!;
}
