import { isDeepStrictEqual } from "node:util";
import { matchesGlob } from "../../../core/text/glob.ts";
import type { User, Users } from "../users.ts";
import { ProviderSignInError } from "./identity-provider.ts";
import type { IdentityProviderOptions } from "./options.ts";
import type { ProviderAccount } from "./provider-account.ts";

type Facts = Pick<ProviderAccount, "subject" | "login" | "email" | "groups">;

/** Matches a pattern without letters and hyphens. Such a pattern can only match the id of a GitHub account. */
const ID_PATTERN = /^[\d*?]+$/;

/** Returns true if a rule of the provider admits the account. */
export function isAdmitted(
  { subject, login, email, groups }: Facts,
  { allow }: Pick<IdentityProviderOptions, "allow">,
): boolean {
  return allow.some(({ kind, pattern }) => {
    // A GitHub login may consist of digits, so a user could choose the id of another account as login.
    const user = ID_PATTERN.test(pattern) ? [subject] : [subject, login];
    const values = { everyone: [subject], user, email: [email], group: groups }[kind];
    return values.some((value) => value !== undefined && matchesGlob(pattern, value.toLowerCase()));
  });
}

/** Returns the name of a new user. A local user cannot have it, because names of local users contain no colon. */
export function accountName({ provider, login, email, subject }: ProviderAccount): string {
  return `${provider}:${login ?? email ?? subject}`;
}

/**
 * Returns the groups of a user, or `undefined` if the user may not use the hub any more. A user with a password is a
 * local user. Any other user must have an account that a configured provider admits. Groups of a provider begin with
 * its key, so that a provider cannot add users to local groups.
 */
export function groupsOfUser(
  { hash, groups, account }: Pick<User, "hash" | "groups" | "account">,
  providers: readonly IdentityProviderOptions[],
): readonly string[] | undefined {
  const provider = account && providers.find(({ id, url }) => id === account.provider && url === account.issuer);
  if (hash === undefined && (!provider || !isAdmitted(account, provider))) return undefined;
  return provider ? [...groups, ...account.groups.map((group) => `${provider.id}:${group}`)] : groups;
}

/**
 * Resolves with the user of an account, and stores the account if it is new or has changed. The user is found by issuer
 * and subject, and by nothing else. Names and e-mail addresses are not compared, even if they are verified: a user of
 * the provider could otherwise take over a local user with the same name. Rejects with a `ProviderSignInError` if no
 * rule admits the account.
 */
export async function admitAccount(
  account: ProviderAccount,
  provider: IdentityProviderOptions,
  users: Pick<Users, "findByAccount" | "setAccount">,
): Promise<User> {
  const known = await users.findByAccount(account);
  if (known?.hash === undefined && !isAdmitted(account, provider))
    throw new ProviderSignInError("This account may not use the hub");
  if (known && isDeepStrictEqual(known.account, account)) return known;
  return users.setAccount(account, accountName(account));
}
