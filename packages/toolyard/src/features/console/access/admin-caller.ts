import type { Access } from "../../../core/access.ts";
import type { Principal } from "../../../core/calls/call.ts";
import type { Identity } from "../../../core/calls/identity.ts";
import type { RefusedCaller } from "../../../core/ports/authenticator.ts";
import { permissionOf } from "../../../core/ports/rights.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { assertOwnPage } from "../../../http/request/own-page.ts";
import { KEY_HEADER } from "../api-types.ts";
import type { BrowserSessions } from "./sessions.ts";

/** The authenticated caller of one request to `/api/admin`. */
export interface AdminCaller {
  readonly principal: Principal;
  readonly by: "open" | "session" | "token";
  /** Value of `Authorization` that authenticated it; absent if none is needed. */
  readonly authorization?: string;
  /** Its rights are not narrowed. */
  readonly seesAll: boolean;
  readonly mayChange: boolean;
  /** The hub has no authentication. Any program that reaches its port could then change it, so nothing may. */
  readonly isReadOnlyHub: boolean;
}

export interface CallerParts {
  readonly access: Pick<Access, "isGuarded" | "authenticator">;
  readonly sessions: BrowserSessions;
  /** Callers that may change sources and settings. @default the tokens of `[server]` */
  readonly admins?: readonly string[];
}

/**
 * Returns the caller of a request. A browser must send the header of the console's own page: a foreign page cannot, as
 * the preflight of such a request is refused. Throws a `Refusal`.
 */
export async function callerOf(exchange: HttpExchange, parts: CallerParts): Promise<AdminCaller> {
  assertOwnScript(exchange);
  const { access, sessions } = parts;
  const cookie = cookieOf(exchange);
  const session = cookie === undefined ? undefined : sessions.find(cookie, exchange.header(KEY_HEADER) ?? "");
  const authorization = session?.authorization ?? exchange.header("authorization");
  const header = (name: string): string | undefined =>
    name === "authorization" ? authorization : exchange.header(name);
  const found = await access.authenticator.authenticate({ header });
  if (!found.admitted) {
    // The token of the session was removed from the configuration, or has expired.
    if (session && cookie !== undefined) sessions.end(cookie);
    throw refusalOf(found);
  }
  const { principal } = found;
  const seesAll = !permissionOf(principal.rights).isNarrowed;
  return {
    principal,
    by: session ? "session" : access.isGuarded ? "token" : "open",
    ...(authorization !== undefined && { authorization }),
    seesAll,
    mayChange: seesAll && isAdmin(principal, parts),
    isReadOnlyHub: !access.isGuarded,
  };
}

/** Tells whether a caller may still follow an event stream that it opened. */
export interface StreamPermit {
  /** The session or the token has ended. Consults no other service. */
  isOver(): boolean;
  /** Authenticates the caller again. Resolves with false if it is refused, or has other rights now. */
  renew(): Promise<boolean>;
}

export function permitOf(
  exchange: Pick<HttpExchange, "header" | "baseUrl">,
  { principal, by, authorization, seesAll }: AdminCaller,
  { access, sessions }: Pick<CallerParts, "access" | "sessions">,
): StreamPermit {
  const cookie = by === "session" ? cookieOf(exchange) : undefined;
  const { expiresAt = Infinity } = principal.identity ?? {};
  const header = (name: string): string | undefined =>
    name === "authorization" ? authorization : exchange.header(name);
  return {
    isOver: () => Date.now() >= expiresAt || (cookie !== undefined && !sessions.isOpen(cookie)),
    renew: async () => {
      const found = await access.authenticator.authenticate({ header });
      if (!found.admitted) return found.status === 503;
      const { id, rights } = found.principal;
      return id === principal.id && seesAll === !permissionOf(rights).isNarrowed;
    },
  };
}

function refusalOf({ status = 401, message, challenge, retryAfterMs }: RefusedCaller): Refusal {
  return new Refusal(status, message, {
    ...(challenge !== "" && { "www-authenticate": challenge }),
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
  });
}

/** Whatever `server.cors_origins` names, only pages of this hub may use its administration. */
export function assertOwnOrigin(exchange: HttpExchange): void {
  assertOwnPage(exchange);
  const origin = exchange.header("origin");
  if (origin === undefined || origin === "") return;
  const host = URL.canParse(origin) ? new URL(origin).host : undefined;
  if (host !== undefined && (host === exchange.header("host") || host === new URL(exchange.baseUrl).host)) return;
  throw new Refusal(403, "Invalid Origin: only pages of this hub may use `/api/admin`.");
}

function assertOwnScript(exchange: HttpExchange): void {
  assertOwnOrigin(exchange);
  const isBrowser = exchange.header("sec-fetch-site") !== undefined || exchange.header("origin") !== undefined;
  if (!isBrowser || exchange.header(KEY_HEADER) !== undefined) return;
  // A person may read a document by its address; a page may not load it.
  if (exchange.method === "GET" && exchange.header("sec-fetch-site") === "none") return;
  throw new Refusal(403, `A request of a browser needs the header \`${KEY_HEADER}\`, which the console sends.`);
}

/** The name has the port, because browsers send a cookie to every port of a host. */
export function cookieName({ baseUrl }: Pick<HttpExchange, "baseUrl">): string {
  const { port, protocol } = new URL(baseUrl);
  return `toolyard_console_${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

export function cookieOf(exchange: Pick<HttpExchange, "baseUrl" | "header">): string | undefined {
  const start = `${cookieName(exchange)}=`;
  const part = (exchange.header("cookie") ?? "").split(";").find((one) => one.trim().startsWith(start));
  return part?.trim().slice(start.length);
}

/** A caller without an identity has shown no credential, so it is no administrator. */
function isAdmin(
  { identity, roles = [], profile }: Pick<Principal, "identity" | "profile" | "roles">,
  { access, admins }: Pick<CallerParts, "access" | "admins">,
): boolean {
  if (!access.isGuarded || profile || !identity) return false;
  if (!admins) return identity.kind === "token";
  const names = [
    ...namesOf(identity).map((name) => `${identity.kind}:${name}`),
    ...identity.groups.map((group) => `group:${group}`),
    ...roles.map((role) => `role:${role}`),
  ];
  return names.some((name) => admins.includes(name));
}

/** An external issuer may let users choose their names, so that only the id and the subject identify them. */
function namesOf({ kind, id, name, isNameUnique, claims }: Identity): readonly string[] {
  if (kind === "token" || isNameUnique) return [name, id];
  const subject = claims["sub"];
  return typeof subject === "string" ? [id, subject] : [id];
}
