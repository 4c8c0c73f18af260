import type { OAuthOptions } from "../outbound/credentials/oauth.ts";
import type { Challenge } from "./challenge.ts";
import { discover, type DiscoveredServer } from "./discovery.ts";
import { createProofKey, proofKeyOf, type ProofKey } from "./dpop.ts";
import { needsPerson } from "./failures.ts";
import type { GrantRequest } from "./grants.ts";
import { assertBoundIssuer } from "./issuer-binding.ts";
import { keyOf, targetOf, type LoginContext } from "./context.ts";
import type { ClientRecord, SignInRecord, TokenRecord } from "./records.ts";
import { clientFor } from "./registration.ts";
import { scopesToAsk } from "./scopes.ts";

/**
 * Maximum number of times that a user is asked to grant the same further scopes, although the server refused the token
 * after each time.
 */
export const MAX_WIDENINGS = 2;

/** The known facts before a user is asked to sign in. */
export interface Situation {
  readonly found: DiscoveredServer;
  /** The earlier record of this sign-in, unless it belongs to another issuer. */
  readonly known: SignInRecord | undefined;
  /** The hub's existing client; undefined if there is none. */
  readonly client: ClientRecord | undefined;
  readonly challenge: Challenge | undefined;
}

/** The client and the scopes of a sign-in. */
export interface PreparedSignIn {
  readonly found: DiscoveredServer;
  readonly client: ClientRecord;
  readonly scopes: readonly string[];
  readonly key: ProofKey | undefined;
}

/** Collects the facts for a sign-in. Rejects with a `FailError`, also if further scopes were requested too often. */
export async function situationOf(context: LoginContext, challenge: Challenge | undefined): Promise<Situation> {
  const before = await context.vault.find(keyOf(context));
  assertWidens(context, before);
  const found = await discover(targetOf(context), challenge, context.network);
  await assertBoundIssuer(context, found);
  const known = before?.server.issuer === found.server.issuer ? before : undefined;
  const client = known?.client ?? (await clientOfOthers(context, found));
  return { found, known, client, challenge };
}

/** Prepares the client and the scopes of a sign-in. Registers the hub if necessary. Rejects with a `FailError`. */
export async function prepare(
  { options, network, starts }: LoginContext,
  { found, known, client: before, challenge }: Situation,
  redirectUri: string,
): Promise<PreparedSignIn> {
  const { server } = found;
  const register = (recent?: ClientRecord): Promise<ClientRecord> =>
    clientFor({ server, options, network, redirectUri, known: [before, recent] });
  const key = JSON.stringify([server.issuer, redirectUri, before?.id]);
  const client = await (starts ? starts.client(key, register) : register());
  const challenged = known?.wanted?.scope ?? challenge?.scope;
  const asked = known?.wanted ? known.scopes : [];
  const wish = { configured: options.scopes, challenged, described: found.scopes, before: asked };
  return { found, client, scopes: scopesToAsk(wish, server), key: keyFor(options, known) };
}

export function redeemingOf(
  { network, options }: LoginContext,
  { found, client, key }: PreparedSignIn,
  signal?: AbortSignal,
): GrantRequest {
  return {
    server: found.server,
    client,
    network,
    ...(signal && { signal }),
    ...(key && { key }),
    ...(options.privateKey !== undefined && { privateKey: options.privateKey }),
  };
}

/** Stores tokens in the vault, as the sign-in of this owner. */
export async function save(
  context: LoginContext,
  { found, client, scopes, key }: PreparedSignIn,
  tokens: TokenRecord,
): Promise<SignInRecord> {
  const own = keyOf(context);
  const saved = await context.vault.update(own, (before) => {
    const wanted = before?.wanted && { ...before.wanted, tries: before.wanted.tries + 1 };
    const { server, resource } = found;
    const extras = { ...(wanted && { wanted }), ...(key && { key: key.jwk }) };
    return { ...own, server, resource, client, scopes, tokens, ...extras };
  });
  return saved!;
}

function assertWidens({ label }: LoginContext, before: SignInRecord | undefined): void {
  const { scope, tries } = before?.wanted ?? { scope: "", tries: 0 };
  if (tries < MAX_WIDENINGS) return;
  throw needsPerson(
    label,
    `was signed in to ${MAX_WIDENINGS} times for the scopes ${scope} and still refuses. Check there ` +
      "whether you have these rights; `toolyard logout` lets you start again.",
  );
}

/** Returns a client that other users of this hub registered. A client that its issuer may have deleted is skipped. */
async function clientOfOthers(
  { vault, label, url }: LoginContext,
  { server }: DiscoveredServer,
): Promise<ClientRecord | undefined> {
  const others = (await vault.all()).filter((one) => one.source === label && one.url === url.href);
  return others.find(({ client, unknownSince }) => client.issuer === server.issuer && unknownSince === undefined)
    ?.client;
}

function keyFor({ dpop }: OAuthOptions, known: SignInRecord | undefined): ProofKey | undefined {
  if (!dpop) return undefined;
  return known?.key ? proofKeyOf(known.key) : createProofKey();
}
