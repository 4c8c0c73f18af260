import { createContext, keyOf, openVault, type SignInPlace } from "./context.ts";
import { revoke } from "./grants.ts";
import type { SignInRecord } from "./records.ts";
import type { SignInSummary, SignOutResult } from "../core/ports/sign-in-coordinator.ts";

/** Returns the stored sign-in of a source and owner. Returns `undefined` if no user is signed in. */
export async function readSignIn(place: SignInPlace): Promise<SignInSummary | undefined> {
  const record = await openVault(place).find(keyOf(place));
  if (!record?.tokens) return undefined;
  const { obtainedAt, lifetimeMs } = record.tokens;
  return {
    issuer: record.server.issuer,
    scopes: record.scopes,
    ...(lifetimeMs !== undefined && { expiresAt: new Date(obtainedAt + lifetimeMs).toISOString() }),
    isRenewable: record.tokens.refresh !== undefined,
  };
}

/**
 * Removes the tokens of a source and owner from the vault, and revokes them at their authorization server. Returns
 * `undefined` if no user is signed in.
 */
export async function signOut(place: SignInPlace): Promise<SignOutResult | undefined> {
  const context = createContext(place);
  const { vault, network } = context;
  try {
    if (!(await vault.find(keyOf(context)))?.tokens) return undefined;
    let record: SignInRecord | undefined;
    // The vault is changed first, so that no hub uses the tokens, even if the server refuses the revocation. The tokens
    // are removed and read in one step, because another hub may store renewed ones meanwhile. A renewal that is running
    // is not awaited: it revokes its new tokens when it cannot store them.
    await vault.update(keyOf(context), (now) => {
      record = now;
      return now?.tokens ? signedOut(now) : now;
    });
    const { tokens, server, client } = record ?? {};
    if (!tokens || !server || !client) return undefined;
    const { privateKey } = place.options;
    const redeeming = { server, client, network, ...(privateKey !== undefined && { privateKey }) };
    return { isRevoked: await revoke(tokens.refresh ?? tokens.access, redeeming) };
  } finally {
    await network.close();
  }
}

function signedOut(record: SignInRecord): SignInRecord {
  const { tokens: _, wanted: __, endedBecause: ___, ...rest } = record;
  return { ...rest, scopes: [] };
}
