import { randomUUID } from "node:crypto";
import { codeOf, OptionError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { AuthText } from "../../state/ports/auth-state.ts";
import { StoreLostError } from "../../state/ports/store.ts";
import type { ProviderAccount } from "./federation/provider-account.ts";

/** A user of the builtin authorization server. */
export interface User {
  readonly name: string;
  /** Subject of the user's tokens. It does not change while the user exists, and is never assigned again. */
  readonly sub: string;
  /** Hash of the password. Absent: the user signs in at an identity provider only. */
  readonly hash?: string;
  readonly groups: readonly string[];
  /** Account at an identity provider with which the user may sign in. */
  readonly account?: ProviderAccount;
}

/** Time in milliseconds during which the text is not checked for changes after it was read. */
const LOOK_EVERY_MS = 1000;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,63}$/u;
const MAX_USERS = 10_000;

/** Users in one text. Commands, and other hubs, change it while the hub is running. */
export class Users {
  readonly #text: AuthText;
  readonly #onChanged: () => void;
  #users: ReadonlyMap<string, User> = new Map();
  #bySub: ReadonlyMap<string, User> = new Map();
  #byAccount: ReadonlyMap<string, User> = new Map();
  #stamp = "";
  #lookedAt = -Infinity;
  #looking: Promise<void> | undefined;

  /** `onChanged` is called after this process has changed the users. */
  constructor(text: AuthText, onChanged: () => void = () => {}) {
    this.#text = text;
    this.#onChanged = onChanged;
  }

  /** Finds a user by name. Like all reading methods, rejects with a `StoreLostError` if the store does not answer. */
  async find(name: string): Promise<User | undefined> {
    await this.#look();
    return this.#users.get(keyOf(name));
  }

  async findBySub(sub: string): Promise<User | undefined> {
    await this.#look();
    return this.#bySub.get(sub);
  }

  /** Finds the user of an account. Always checks the text for changes, since it runs once for each sign-in. */
  async findByAccount(account: AccountKey): Promise<User | undefined> {
    await this.#look(0);
    return this.#byAccount.get(accountKey(account));
  }

  async list(): Promise<readonly User[]> {
    await this.#look(0);
    return [...this.#users.values()];
  }

  /** Requires that the next look-up reads the text again, because another process has changed it. */
  expire(): void {
    this.#lookedAt = -Infinity;
  }

  /** Adds a user. Rejects with an `OptionError` if the name is taken or invalid. */
  add(name: string, { hash, groups }: { readonly hash: string; readonly groups: readonly string[] }): Promise<User> {
    if (!NAME.test(name))
      throw new OptionError(
        `A user cannot be called ${JSON.stringify(name)}. Use up to 64 letters, digits and \`. _ @ + -\`.`,
      );
    return this.#change((users) => {
      if (users.has(keyOf(name))) throw new OptionError(`There is a user \`${name}\` already.`);
      if (users.size >= MAX_USERS) throw new OptionError(`There are ${MAX_USERS} users already.`);
      const user: User = { name, sub: randomUUID(), hash, groups };
      users.set(keyOf(name), user);
      return user;
    });
  }

  /** Sets the password hash of a user. Rejects with an `OptionError` for an unknown name. */
  setHash(name: string, hash: string): Promise<User> {
    return this.#change((users) => {
      const user = { ...known(users, name), hash };
      users.set(keyOf(name), user);
      return user;
    });
  }

  /**
   * Stores the data that an identity provider returned about an account, and resolves with its user. Adds the user if
   * there is none. If another user has the name, the new name ends with the account's subject.
   */
  setAccount(account: ProviderAccount, newName: string): Promise<User> {
    return this.#change((users) => {
      const known = Array.from(users.values()).find((user) => hasAccount(user) && isSame(user.account, account));
      if (!known && users.size >= MAX_USERS) throw new OptionError(`There are ${MAX_USERS} users already.`);
      const name = known?.name ?? (users.has(keyOf(newName)) ? `${newName} (${account.subject})` : newName);
      const user: User = { ...(known ?? { name, sub: randomUUID(), groups: [] }), account };
      users.set(keyOf(name), user);
      return user;
    });
  }

  /**
   * Lets a user sign in with an account. Rejects with an `OptionError` if the name is unknown or the account belongs to
   * another user.
   */
  link(name: string, account: ProviderAccount): Promise<User> {
    return this.#change((users) => {
      const other = Array.from(users.values()).find((user) => hasAccount(user) && isSame(user.account, account));
      if (other && keyOf(other.name) !== keyOf(name))
        throw new OptionError(`The account belongs to the user \`${other.name}\`. Remove that user first.`);
      const user: User = { ...known(users, name), account };
      users.set(keyOf(name), user);
      return user;
    });
  }

  /** Removes a user. Rejects with an `OptionError` for an unknown name. */
  remove(name: string): Promise<User> {
    return this.#change((users) => {
      const user = known(users, name);
      users.delete(keyOf(name));
      return user;
    });
  }

  /** Changes the text. Rejects with an `OptionError`, and keeps the text, if a part of it cannot be read. */
  async #change<T>(change: (users: Map<string, User>) => T): Promise<T> {
    const { name } = this.#text;
    const result = await this.#text
      .change(async (text) => {
        const users = new Map(readAllUsers(text, name).map((user) => [keyOf(user.name), user]));
        const changed = change(users);
        return { text: `${JSON.stringify({ users: [...users.values()] }, undefined, 2)}\n`, result: changed };
      })
      .catch((error: unknown) => {
        throw UNREADABLE.has(codeOf(error) ?? "") ? unreadable(name, error) : error;
      });
    await this.#look(0);
    this.#onChanged();
    return result;
  }

  /** Reads the text again if it was not checked within `everyMs`. Concurrent callers share one reading. */
  async #look(everyMs = LOOK_EVERY_MS): Promise<void> {
    // A reading that has begun may not see a change that has just ended.
    if (everyMs === 0) await this.#looking?.catch(() => {});
    if (!this.#looking && performance.now() - this.#lookedAt < everyMs) return;
    await (this.#looking ??= this.#read().finally(() => (this.#looking = undefined)));
  }

  async #read(): Promise<void> {
    // Set first: if the users change while they are read, they are read again.
    this.#lookedAt = performance.now();
    const read = await this.#text.read(this.#stamp).catch((error: unknown) => {
      this.#lookedAt = -Infinity;
      if (error instanceof StoreLostError) throw error;
      return UNREAD;
    });
    if (read === "same") return;
    const found = read && readUsers(read.text);
    const users = found ?? [];
    this.#users = new Map(users.map((user) => [keyOf(user.name), user]));
    this.#bySub = new Map(users.map((user) => [user.sub, user]));
    const linked = users.filter(hasAccount);
    this.#byAccount = new Map(linked.map((user) => [accountKey(user.account), user]));
    // A text that could not be read is read again, because the cause may have been temporary.
    this.#stamp = read && found ? read.stamp : "";
  }
}

/** Stands for a file that exists and cannot be read. No user can sign in then. */
const UNREAD = { stamp: "", text: "" };
/** Codes of the system for a path that is not a readable file. */
const UNREADABLE: ReadonlySet<string> = new Set(["EISDIR", "EACCES", "EPERM"]);

type AccountKey = Pick<ProviderAccount, "issuer" | "subject">;

function accountKey({ issuer, subject }: AccountKey): string {
  return JSON.stringify([issuer, subject]);
}

function isSame(one: AccountKey, other: AccountKey): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
}

function hasAccount(user: User): user is User & { readonly account: ProviderAccount } {
  return user.account !== undefined;
}

function keyOf(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}

function known(users: ReadonlyMap<string, User>, name: string): User {
  const user = users.get(keyOf(name));
  if (user) return user;
  throw new OptionError(`There is no user ${JSON.stringify(name)}. \`toolyard user list\` shows all users.`);
}

/** Returns the users, or `undefined` if the text is damaged; then no user can sign in. */
function readUsers(text: string): readonly User[] | undefined {
  try {
    return entriesOf(text).filter(isUser);
  } catch {
    return undefined;
  }
}

/**
 * Returns the users before a change. Throws an `OptionError` if the text contains entries that cannot be read, because
 * the change would remove them.
 */
function readAllUsers(text: string | undefined, name: string): readonly User[] {
  if (text === undefined) return [];
  try {
    const entries = entriesOf(text);
    if (entries.every(isUser)) return entries;
    throw new TypeError("an entry is not a user");
  } catch (error) {
    throw unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): OptionError {
  const code = codeOf(error) ?? "it is not a valid list of users";
  return new OptionError(
    `The users (${name}) cannot be read: ${code}. Nothing was changed. Correct them, or restore them from a backup.`,
    { cause: error },
  );
}

function entriesOf(text: string): readonly unknown[] {
  const value: unknown = JSON.parse(text);
  if (isJsonObject(value) && Array.isArray(value["users"])) return value["users"];
  throw new TypeError("the file has no list of users");
}

function isUser(value: unknown): value is User {
  if (!isJsonObject(value)) return false;
  const { name, sub, hash, groups, account } = value;
  const canSignIn = typeof hash === "string" || (hash === undefined && account !== undefined);
  const isWhole = typeof name === "string" && typeof sub === "string" && Array.isArray(groups);
  return isWhole && canSignIn && (account === undefined || isAccount(account));
}

function isAccount(value: unknown): value is ProviderAccount {
  if (!isJsonObject(value)) return false;
  const { provider, issuer, subject, groups } = value;
  return [provider, issuer, subject].every((one) => typeof one === "string") && Array.isArray(groups);
}
