import type { AuthServer } from "../../../auth/builtin/auth-server.ts";
import { groupsOfUser } from "../../../auth/builtin/federation/account.ts";
import { generatePassword, MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../../auth/builtin/passwords.ts";
import type { User } from "../../../auth/builtin/users.ts";
import { OptionError } from "../../../core/errors.ts";
import { listMember, stringMember, type JsonObject } from "../../../core/json/json.ts";
import { firstChars } from "../../../core/text/truncate.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { ClientRow, SetPassword, UserList, UserRow } from "../user-types.ts";
import type { ActionResult } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";

const MAX_GROUPS = 100;
const MAX_TEXT_CHARS = 500;

type UserParts = Pick<ConsoleParts, "authServer" | "roleNames">;

/** Shows and changes the users and clients of the hub's own authorization server. */
export class UserRoutes {
  readonly #parts: UserParts;

  constructor(parts: UserParts) {
    this.#parts = parts;
  }

  get routes(): readonly AdminRoute[] {
    const needs = "change";
    return [
      {
        method: "GET",
        path: "users",
        needs: "admin",
        summary: "Users and registered clients of the hub's own authorization server.",
        handle: (request) => this.#list(request),
      },
      {
        method: "POST",
        path: "users",
        needs,
        summary: "Adds a user.",
        action: "add_user",
        handle: (request) => this.#add(request),
      },
      {
        method: "POST",
        path: "users/*/password",
        needs,
        summary: "Sets another password, and signs the user out everywhere.",
        action: "set_password",
        handle: (request) => this.#setPassword(request),
      },
      {
        method: "POST",
        path: "users/*/sign-out",
        needs,
        summary: "Revokes all sessions and tokens of a user.",
        action: "revoke_sessions",
        handle: (request) => this.#signOut(request),
      },
      {
        method: "DELETE",
        path: "users/*",
        needs,
        summary: "Removes a user. Its tokens are not accepted any more.",
        action: "remove_user",
        handle: (request) => this.#remove(request),
      },
      {
        method: "DELETE",
        path: "clients/*",
        needs,
        summary: "Removes a registered client. Its tokens are not accepted any more.",
        action: "remove_client",
        handle: ({ names }) => this.#removeClient(names[0]!),
      },
    ];
  }

  /** Throws a `Refusal` if the hub has no authorization server of its own. */
  async #server(): Promise<AuthServer> {
    const handle = this.#parts.authServer();
    if (handle) return handle.load();
    throw new Refusal(409, "This hub has no users of its own. `modes` of `[auth]` enables its own sign-in.");
  }

  async #list({ caller }: AdminRequest): Promise<UserList> {
    if (!this.#parts.authServer()) return { hasUsers: false, users: [], clients: [] };
    const server = await this.#server();
    const users = (await server.users.list()).map((user) => this.#rowOf(user, server, caller.principal.id));
    return { hasUsers: true, users, clients: (await server.clients.list()).map(toClientRow) };
  }

  #rowOf(user: User, { options, baseUrl }: AuthServer, caller: string): UserRow {
    const { name, sub, hash, account } = user;
    const groups = groupsOfUser(user, options.providers);
    const id = idOf(user, baseUrl);
    const roles = this.#parts.roleNames({
      kind: "user",
      id,
      name,
      isNameUnique: true,
      issuer: baseUrl,
      groups: groups ?? [],
      scopes: [],
      claims: {},
    });
    return {
      name,
      sub,
      groups: groups ?? user.groups,
      roles: groups ? (roles ?? []) : [],
      isAdmitted: groups !== undefined && roles !== undefined,
      hasPassword: hash !== undefined,
      ...(account && { provider: account.provider }),
      isYou: id === caller,
    };
  }

  async #add({ exchange }: AdminRequest): Promise<SetPassword> {
    const body = await exchange.readObject("`name`, `groups` and `password`");
    const { users, passwords } = await this.#server();
    const { password, isGenerated } = passwordIn(body);
    const groups = groupsIn(body);
    const name = stringMember(body, "name") ?? "";
    const hash = await passwords.hash(password);
    await orRefused(() => users.add(name, { hash, groups }));
    return { done: true, message: `Added the user ${name}.`, ...(isGenerated && { password }) };
  }

  async #setPassword(request: AdminRequest): Promise<SetPassword> {
    const { password, isGenerated } = passwordIn(await request.exchange.readObject("`password`"));
    const server = await this.#server();
    const user = await this.#find(request);
    const hash = await server.passwords.hash(password);
    await orRefused(() => server.users.setHash(user.name, hash));
    await server.signOutUser(user.sub);
    const message = `${user.name} has another password, and is signed out everywhere.`;
    return { done: true, message, ...(isGenerated && { password }) };
  }

  async #signOut(request: AdminRequest): Promise<ActionResult> {
    const { name, sub } = await this.#find(request);
    await (await this.#server()).signOutUser(sub);
    return { done: true, message: `${name} is signed out everywhere.` };
  }

  async #remove(request: AdminRequest): Promise<ActionResult> {
    const server = await this.#server();
    const user = await this.#find(request);
    if (idOf(user, server.baseUrl) === request.caller.principal.id)
      throw new Refusal(409, `You are signed in as ${user.name}. Another administrator can remove this user.`);
    await orRefused(() => server.users.remove(user.name));
    await server.signOutUser(user.sub);
    return { done: true, message: `Removed the user ${user.name}.` };
  }

  async #find({ names: [name = ""] }: AdminRequest): Promise<User> {
    const found = await (await this.#server()).users.find(name);
    if (found) return found;
    throw new Refusal(404, `There is no user ${JSON.stringify(name)}. \`GET /api/admin/users\` lists all users.`);
  }

  async #removeClient(id: string): Promise<ActionResult> {
    if (await (await this.#server()).clients.remove(id)) return { done: true, message: `Removed the client ${id}.` };
    throw new Refusal(404, `There is no registered client ${JSON.stringify(id)}.`);
  }
}

function idOf({ sub }: User, issuer: string): string {
  return `${issuer}|user|${sub}`;
}

async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OptionError) throw new Refusal(422, error.message);
    throw error;
  }
}

function passwordIn(body: JsonObject): { readonly password: string; readonly isGenerated: boolean } {
  const { password } = body;
  if (password === undefined || password === "") return { password: generatePassword(), isGenerated: true };
  if (typeof password === "string" && password.length >= MIN_PASSWORD_CHARS && password.length <= MAX_PASSWORD_CHARS)
    return { password, isGenerated: false };
  throw new Refusal(422, `A password has ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters.`);
}

const GROUP = /^[^\p{Cc}]{1,256}$/u;

function groupsIn(body: JsonObject): readonly string[] {
  const groups = body["groups"] ?? [];
  const isList = Array.isArray(groups) && groups.length <= MAX_GROUPS;
  if (isList && groups.every((group) => typeof group === "string" && GROUP.test(group))) return groups as string[];
  throw new Refusal(422, `\`groups\` must be a list of up to ${MAX_GROUPS} names.`);
}

function toClientRow(client: JsonObject): ClientRow {
  const issuedAt = client["client_id_issued_at"];
  const redirects = listMember(client, "redirect_uris").filter((one): one is string => typeof one === "string");
  return {
    id: stringMember(client, "client_id") ?? "",
    name: firstChars(stringMember(client, "client_name") ?? "", MAX_TEXT_CHARS),
    redirects: redirects.slice(0, MAX_GROUPS).map((uri) => firstChars(uri, MAX_TEXT_CHARS)),
    ...(typeof issuedAt === "number" && { registeredAt: new Date(issuedAt * 1000).toISOString() }),
  };
}
