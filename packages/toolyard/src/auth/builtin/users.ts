import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { OptionError } from "../../core/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { writeWhole } from "../../files/write-whole.ts";
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

/** Time in milliseconds during which the file is not checked for changes after it was read. */
const LOOK_EVERY_MS = 1000;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,63}$/u;
const MAX_USERS = 10_000;

/** File of users. Commands change it while the hub is running. */
export class Users {
  readonly #file: string;
  #users: ReadonlyMap<string, User> = new Map();
  #bySub: ReadonlyMap<string, User> = new Map();
  #byAccount: ReadonlyMap<string, User> = new Map();
  #stamp = "";
  #lookedAt = -Infinity;

  constructor(file: string) {
    this.#file = file;
  }

  find(name: string): User | undefined {
    this.#look();
    return this.#users.get(keyOf(name));
  }

  findBySub(sub: string): User | undefined {
    this.#look();
    return this.#bySub.get(sub);
  }

  /** Finds the user of an account. Always checks the file for changes, since it runs once for each sign-in. */
  findByAccount(account: AccountKey): User | undefined {
    this.#look(0);
    return this.#byAccount.get(accountKey(account));
  }

  list(): readonly User[] {
    this.#look(0);
    return [...this.#users.values()];
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

  /** Changes the file. Rejects with an `OptionError`, and keeps the file, if a part of it cannot be read. */
  #change<T>(change: (users: Map<string, User>) => T): Promise<T> {
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    return withFileLock(`${this.#file}.lock`, async () => {
      const users = new Map(readAllUsers(this.#file).map((user) => [keyOf(user.name), user]));
      const result = change(users);
      await writeWhole(this.#file, `${JSON.stringify({ users: [...users.values()] }, undefined, 2)}\n`);
      this.#look(0);
      return result;
    });
  }

  #look(everyMs = LOOK_EVERY_MS): void {
    const now = performance.now();
    if (now - this.#lookedAt < everyMs) return;
    this.#lookedAt = now;
    const found = statSync(this.#file, { throwIfNoEntry: false });
    const stamp = found ? `${found.mtimeMs} ${found.size} ${found.ino}` : "";
    if (stamp === this.#stamp) return;
    const read = found ? readUsers(this.#file) : [];
    const users = read ?? [];
    this.#users = new Map(users.map((user) => [keyOf(user.name), user]));
    this.#bySub = new Map(users.map((user) => [user.sub, user]));
    const linked = users.filter(hasAccount);
    this.#byAccount = new Map(linked.map((user) => [accountKey(user.account), user]));
    // A file that could not be read is read again at the next check, because the cause may have been temporary.
    this.#stamp = read ? stamp : "unread";
  }
}

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

/** Reads the users. Returns `undefined` if the file cannot be read; then no user can sign in. */
function readUsers(file: string): readonly User[] | undefined {
  try {
    return entriesOf(readFileSync(file, "utf8")).filter(isUser);
  } catch {
    return undefined;
  }
}

/**
 * Reads the users before a change. Throws an `OptionError` if the file contains entries that cannot be read, because
 * the change would remove them.
 */
function readAllUsers(file: string): readonly User[] {
  try {
    const entries = entriesOf(readFileSync(file, "utf8"));
    if (entries.every(isUser)) return entries;
    throw new TypeError("an entry is not a user");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    const { code = "it is not a valid list of users" } = error as NodeJS.ErrnoException;
    throw new OptionError(
      `The file of users, \`${basename(file)}\`, cannot be read: ${code}. Nothing was changed. Correct the file, or ` +
        "restore it from a backup.",
      { cause: error },
    );
  }
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
