import { LOCAL_PRINCIPAL, type Principal } from "../../core/calls/call.ts";
import { grantedFacts, type GrantRights, type Identity } from "../../core/calls/identity.ts";
import { nearest } from "../../core/text/suggest.ts";
import { rightsOfEvery } from "../../core/ports/rights.ts";
import type { HttpOptions } from "../../http/options.ts";
import { tokenPrincipal } from "../../http/request/tokens.ts";
import { rightsOfRoles } from "./live-roles.ts";
import type { RolesConfig } from "./options.ts";

/** Parts of the configuration that resolve a caller named on a command line. */
export interface CallerPlaces {
  readonly http: Pick<HttpOptions, "tokens" | "openRights">;
  readonly roles: RolesConfig;
  readonly grantRights: GrantRights;
  /** Returns the groups of a user of the hub's own sign-in. Absent if the hub has no such users. */
  readonly groupsOf?: (user: string) => readonly string[] | undefined;
  /** Names of the users of the hub's own sign-in. */
  readonly users?: readonly string[];
}

/** Caller named on a command line, or the reason why it cannot be resolved. */
export type NamedCaller = { readonly principal: Principal } | { readonly problem: string };

/** Forms of callers, for help and messages. */
export const CALLER_FORMS = "a token's name, user:NAME, group:NAME, client:ID, role:NAME or local";

/**
 * Resolves the name of a caller: `ci`, `token:ci`, `user:ann`, `group:staff`, `client:id`, `role:reader` or `local`.
 */
export function findCaller(text: string, places: CallerPlaces): NamedCaller {
  if (text === LOCAL_PRINCIPAL.id) return { principal: LOCAL_PRINCIPAL };
  const [, kind = "token", name = ""] = /^(?:(token|user|group|client|role):)?(.+)$/s.exec(text) ?? [];
  if (kind === "token") return findToken(name, places);
  if (kind === "role") return findRole(name, places.roles);
  const groups = kind === "user" ? places.groupsOf?.(name) : undefined;
  const identity = { ...identityOf(kind, name), ...(groups && { groups }) };
  const grant = places.grantRights(identity);
  if (!grant) return { problem: `No role has the member ${text}, so the hub refuses this caller.` };
  const rights = rightsOfEvery([places.http.openRights, grant.rights]);
  return { principal: { id: text, identity, ...grantedFacts(grant), rights } };
}

function findToken(name: string, { http, grantRights, users = [] }: CallerPlaces): NamedCaller {
  const entry = http.tokens.find((one) => one.name === name);
  if (entry) return { principal: tokenPrincipal(entry, grantRights) };
  const names = http.tokens.map((one) => one.name);
  const known = names.length === 0 ? "`[server]` has no tokens." : `\`[server]\` has: ${names.join(", ")}.`;
  const meant = users.includes(name) ? [`user:${name}`] : nearest(name, names, 1);
  return { problem: `There is no token \`${name}\`.${hint(meant)} ${known} A caller is ${CALLER_FORMS}.` };
}

function findRole(name: string, roles: RolesConfig): NamedCaller {
  const role = Object.hasOwn(roles, name) ? roles[name] : undefined;
  if (role) return { principal: { id: `role ${name}`, rights: rightsOfRoles([[name, role]]), roles: [name] } };
  const names = Object.keys(roles);
  const meant = hint(nearest(name, names, 1));
  return { problem: `There is no role \`${name}\`.${meant} \`[roles]\` has: ${names.join(", ") || "none"}.` };
}

function hint([name]: readonly string[]): string {
  return name === undefined ? "" : ` Did you mean \`${name}\`?`;
}

/** Returns an identity that has only the named fact. Its access token has no scopes. */
function identityOf(kind: string, name: string): Identity {
  const none = { groups: [], scopes: [], claims: {} };
  const id = `${kind}:${name}`;
  if (kind === "client") return { kind: "client", id, name, clientId: name, ...none };
  return kind === "group"
    ? { kind: "user", id, name: "", ...none, groups: [name] }
    : { kind: "user", id, name, ...none };
}
