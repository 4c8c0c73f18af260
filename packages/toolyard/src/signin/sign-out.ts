import { createContext, keyOf, openVault, type SignInPlace } from "./context.ts";
import { revoke } from "./grants.ts";
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
    const record = await vault.find(keyOf(context));
    if (!record?.tokens) return undefined;
    const { tokens, wanted: _, endedBecause: __, ...rest } = record;
    // The vault is changed first, so that no hub uses the tokens, even if the server refuses the revocation.
    await vault.update(keyOf(context), (now) => now && { ...rest, scopes: [] });
    const { privateKey } = place.options;
    const { server, client } = record;
    const redeeming = { server, client, network, ...(privateKey !== undefined && { privateKey }) };
    return { isRevoked: await revoke(tokens.refresh ?? tokens.access, redeeming) };
  } finally {
    await network.close();
  }
}
