import { generatePassword, MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, Passwords } from "../../auth/builtin/passwords.ts";
import { resolveIdentityProviders } from "../../auth/builtin/federation/options.ts";
import type { User } from "../../auth/builtin/users.ts";
import { KEY_VARIABLE } from "../../core/shared-key.ts";
import { EXIT, UsageError } from "../failure.ts";
import { useAccounts, withAccounts } from "../hub-access/accounts.ts";
import { loadSettings } from "../hub-access/settings.ts";
import { print, printJson, printPainted, type Io } from "../output/io.ts";
import { table } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

interface PasswordOptions extends SharedOptions {
  readonly passwordStdin?: boolean;
}

const KEY_IS_NEW =
  `The store had no key yet. From now on it accepts only this value of ${KEY_VARIABLE}: give it to all hubs of the ` +
  "store.";

interface AddOptions extends PasswordOptions {
  readonly group?: readonly string[];
}

/** Runs `toolyard user add`. */
export const add: CommandAction<AddOptions> = async ([name = ""], options, io) => {
  const { password, isGenerated } = await passwordOf(options, io);
  const facts = { hash: await new Passwords().hash(password), groups: options.group ?? [] };
  const { sub, groups, isKeyNew } = await withAccounts(options, io, async ({ users, hasBoundKey }) => ({
    ...(await users.add(name, facts)),
    isKeyNew: await hasBoundKey(),
  }));
  if (isKeyNew) await print(io.stderr, KEY_IS_NEW);
  const shown = isGenerated ? { password } : {};
  if (options.json) await printJson(io.stdout, { added: name, sub, groups, ...shown });
  else await print(io.stdout, `Added the user ${name}.${passwordText(shown)}`);
  return EXIT.ok;
};

/** Runs `toolyard user passwd`. */
export const passwd: CommandAction<PasswordOptions> = async ([name = ""], options, io) => {
  const { password, isGenerated } = await passwordOf(options, io);
  const hash = await new Passwords().hash(password);
  await withAccounts(options, io, ({ users }) => users.setHash(name, hash));
  const shown = isGenerated ? { password } : {};
  if (options.json) await printJson(io.stdout, { changed: name, ...shown });
  else await print(io.stdout, `${name} has another password.${passwordText(shown)}`);
  return EXIT.ok;
};

/** Runs `toolyard user list`. */
export const list: CommandAction<SharedOptions> = async (_names, options, io) => {
  const users = await withAccounts(options, io, ({ users: known }) => known.list());
  if (options.json)
    await printJson(
      io.stdout,
      users.map(({ name, sub, groups, account }) => ({ name, sub, groups, ...(account && { account }) })),
    );
  else if (users.length === 0) await print(io.stdout, "There are no users. Add one: `toolyard user add <name>`.");
  else {
    const rows = users.map((user) => [user.name, groupsShown(user), waysToSignIn(user), user.sub]);
    await printPainted(io.stdout, table(["user", "groups", "sign-in", "subject"], rows, io));
  }
  return EXIT.ok;
};

/** Runs `toolyard user link`. */
export const link: CommandAction<SharedOptions> = async ([name = "", id = "", subject = ""], options, io) => {
  const { tree } = await loadSettings(options, io);
  const providers = resolveIdentityProviders(tree.auth?.builtin?.providers);
  const provider = providers.find((one) => one.id === id);
  if (!provider)
    throw new UsageError(
      `There is no identity provider ${JSON.stringify(id)} in \`[auth.builtin.providers]\`. Configured: ` +
        `${providers.map((one) => one.id).join(", ") || "none"}.`,
    );
  if (!/^\P{Cc}{1,256}$/u.test(subject))
    throw new UsageError(`A user id of a provider has 1 to 256 characters, got ${JSON.stringify(subject)}.`);
  const account = { provider: id, issuer: provider.url, subject, groups: [] };
  await useAccounts(tree, io.env, ({ users }) => users.link(name, account));
  if (options.json) await printJson(io.stdout, { linked: name, provider: id, subject });
  else await print(io.stdout, `${name} may sign in with the account ${subject} of ${id}.`);
  return EXIT.ok;
};

/** Runs `toolyard user remove`. */
export const remove: CommandAction<SharedOptions> = async ([name = ""], options, io) => {
  await withAccounts(options, io, ({ users }) => users.remove(name));
  if (options.json) await printJson(io.stdout, { removed: name });
  else await print(io.stdout, `Removed the user ${name}. Its access tokens are not accepted any more.`);
  return EXIT.ok;
};

function groupsShown({ groups, account }: User): string {
  return [...groups, ...(account?.groups ?? []).map((group) => `${account!.provider}:${group}`)].join(", ");
}

function waysToSignIn({ hash, account }: User): string {
  return [...(hash === undefined ? [] : ["password"]), ...(account ? [account.provider] : [])].join(", ");
}

async function passwordOf(
  { passwordStdin = false }: PasswordOptions,
  io: Io,
): Promise<{ readonly password: string; readonly isGenerated: boolean }> {
  if (!passwordStdin) return { password: generatePassword(), isGenerated: true };
  const password = (await io.readStdin()).replace(/\r?\n$/, "");
  if (password.length >= MIN_PASSWORD_CHARS && password.length <= MAX_PASSWORD_CHARS)
    return { password, isGenerated: false };
  throw new UsageError(
    `A password has ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters; standard input has ${password.length}.`,
  );
}

function passwordText({ password }: { readonly password?: string }): string {
  return password === undefined ? "" : ` The password, which is shown only now: ${password}`;
}
