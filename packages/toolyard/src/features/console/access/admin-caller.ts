import type { Access } from "../../../core/access.ts";
import type { Principal } from "../../../core/calls/call.ts";
import type { Identity } from "../../../core/calls/identity.ts";
import type { Credentials, RefusedCaller } from "../../../core/ports/authenticator.ts";
import { permissionOf } from "../../../core/ports/rights.ts";
import { describeRights } from "../../../core/ports/rights-text.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { assertOwnPage } from "../../../http/request/own-page.ts";
import { KEY_HEADER } from "../api-types.ts";
import { isRenewalDue, type BrowserSession, type Sessions } from "./sessions.ts";

/** Authenticated caller of one request to `/api/admin`. */
export interface AdminCaller {
  readonly principal: Principal;
  readonly by: "open" | "session" | "token";
  /** Value of the `Authorization` header that authenticated the caller. Absent if no credentials are needed. */
  readonly authorization?: string;
  /** True if the hub obtained the token at an authorization server, so that no other program has it. */
  readonly isHeldByHub: boolean;
  /** True if the caller's rights are not narrowed. */
  readonly seesAll: boolean;
  readonly mayChange: boolean;
  /**
   * Limits of an administrator with narrowed rights, one line for each. Absent if the rights are not narrowed, or if
   * `admins` does not name the caller.
   */
  readonly adminLimits?: readonly string[];
  /**
   * True if the hub has no authentication. Nothing can then be changed, because any program that reaches the port could
   * do it.
   */
  readonly isReadOnlyHub: boolean;
}

export interface CallerParts {
  readonly access: Pick<Access, "isGuarded" | "authenticator">;
  readonly sessions: Sessions;
  /** Callers that may change sources and settings. @default the tokens of `[server]` */
  readonly admins?: readonly string[];
}

/**
 * Returns the caller of a request. A browser must send a header that only the console's own page sends: for a page of
 * another site, the browser would send a preflight first, which is refused. Throws a `Refusal`.
 */
export async function callerOf(exchange: HttpExchange, parts: CallerParts): Promise<AdminCaller> {
  assertOwnScript(exchange);
  const { access, sessions } = parts;
  const cookie = cookieOf(exchange);
  const session = await renewedSession(exchange, sessions);
  const authorization = session?.authorization ?? exchange.header("authorization");
  const isHeldByHub = session?.signedIn !== undefined;
  const found = await access.authenticator.authenticate(credentialsFor(exchange, authorization, isHeldByHub));
  if (!found.admitted) {
    // The session ends, because its token was removed from the configuration, was revoked, or has expired. If a
    // provider does not answer (503), the session continues.
    if (session && cookie !== undefined && found.status !== 503) await sessions.end(cookie);
    throw refusalOf(found);
  }
  return {
    principal: found.principal,
    by: session ? "session" : access.isGuarded ? "token" : "open",
    ...(authorization !== undefined && { authorization }),
    isHeldByHub,
    ...rightsIn(found.principal, parts),
  };
}

/**
 * Returns the caller of a request that another hub has passed on. That hub has checked the session or the token, and
 * keeps the credentials.
 */
export function relayedCaller(principal: Principal, parts: Pick<CallerParts, "access" | "admins">): AdminCaller {
  const by = parts.access.isGuarded ? "session" : "open";
  return { principal, by, isHeldByHub: false, ...rightsIn(principal, parts) };
}

/** Rights of a caller in the console. */
type ConsoleRights = Pick<AdminCaller, "seesAll" | "mayChange" | "adminLimits" | "isReadOnlyHub">;

/** Returns the rights of a principal in the console. */
function rightsIn(principal: Principal, parts: Pick<CallerParts, "access" | "admins">): ConsoleRights {
  const seesAll = !permissionOf(principal.rights).isNarrowed;
  const isNamed = isAdmin(principal, parts);
  return {
    seesAll,
    mayChange: seesAll && isNamed,
    // If `admins` is not configured, every token is an administrator. The limits of a token are then intended and need
    // no explanation.
    ...(!seesAll && isNamed && parts.admins && { adminLimits: describeRights(principal.rights) }),
    isReadOnlyHub: !parts.access.isGuarded,
  };
}

/** Returns the session of a request. First renews its access token if the token expires soon and can be renewed. */
async function renewedSession(exchange: HttpExchange, sessions: Sessions): Promise<BrowserSession | undefined> {
  const [cookie, key] = [cookieOf(exchange), exchange.header(KEY_HEADER) ?? ""];
  if (cookie === undefined) return undefined;
  const session = await sessions.find(cookie, key);
  if (!session?.signedIn || !isRenewalDue(session.signedIn)) return session;
  try {
    await sessions.renew(cookie);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(503, "The sign-in cannot be renewed now: the authorization server does not answer.", {
      "retry-after": "5",
    });
  }
  return sessions.find(cookie, key);
}

/** Returns the credentials of a request. `isHeldByHub`: the hub obtained the token at an authorization server. */
export function credentialsFor(
  exchange: Pick<HttpExchange, "baseUrl" | "header" | "method" | "path">,
  authorization: string | undefined,
  isHeldByHub: boolean,
): Credentials {
  return {
    header: (name) => (name === "authorization" ? authorization : exchange.header(name)),
    method: exchange.method,
    // A handler gets the path without the base path, so the base path is added again.
    target: `${new URL(exchange.baseUrl).pathname.replace(/\/$/, "")}${exchange.path}`,
    isHeldByHub,
  };
}

/** Decides whether a caller may still follow an event stream that it opened. */
export interface StreamPermit {
  /** Returns true if the session or the token has ended. Sends no request except to the store of several hubs. */
  isOver(): boolean | Promise<boolean>;
  /** Authenticates the caller again. Resolves with false if the caller is refused or its rights have changed. */
  renew(): Promise<boolean>;
}

export function permitOf(
  exchange: Pick<HttpExchange, "header" | "baseUrl" | "method" | "path">,
  { principal, by, authorization, isHeldByHub, seesAll }: AdminCaller,
  { access, sessions }: Pick<CallerParts, "access" | "sessions">,
): StreamPermit {
  const cookie = by === "session" ? cookieOf(exchange) : undefined;
  const { expiresAt = Infinity } = principal.identity ?? {};
  return {
    isOver: () => {
      if (Date.now() >= expiresAt) return true;
      const isOpen = cookie === undefined || sessions.isOpen(cookie);
      // A store that cannot be reached does not end a stream.
      return isOpen instanceof Promise
        ? isOpen.then(
            (open) => !open,
            () => false,
          )
        : !isOpen;
    },
    renew: async () => {
      // The request has already used its proof of the key, so a caller with a bound token is refused here and must
      // reconnect.
      const found = await access.authenticator.authenticate(credentialsFor(exchange, authorization, isHeldByHub));
      if (!found.admitted) return found.status === 503;
      const { id, rights } = found.principal;
      return id === principal.id && seesAll === !permissionOf(rights).isNarrowed;
    },
  };
}

function refusalOf({ status = 401, message, challenge, nonce, retryAfterMs }: RefusedCaller): Refusal {
  return new Refusal(status, message, {
    ...(nonce !== undefined && { "dpop-nonce": nonce }),
    ...(challenge !== "" && { "www-authenticate": challenge }),
    ...(retryAfterMs !== undefined && { "retry-after": String(Math.ceil(retryAfterMs / 1000)) }),
  });
}

/** Only pages of this hub may use its administration API, even if `server.cors_origins` names other origins. */
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
  // A user may open a document of the API in the address bar, but a page of another origin may not load it.
  if (exchange.method === "GET" && exchange.header("sec-fetch-site") === "none") return;
  throw new Refusal(403, `A request of a browser needs the header \`${KEY_HEADER}\`, which the console sends.`);
}

/** The name contains the port, because browsers send a cookie to every port of a host. */
export function cookieName({ baseUrl }: Pick<HttpExchange, "baseUrl">): string {
  const { port, protocol } = new URL(baseUrl);
  return `toolyard_console_${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

export function cookieOf(exchange: Pick<HttpExchange, "baseUrl" | "header">): string | undefined {
  const start = `${cookieName(exchange)}=`;
  const part = (exchange.header("cookie") ?? "").split(";").find((one) => one.trim().startsWith(start));
  return part?.trim().slice(start.length);
}

/** A caller without an identity has sent no credentials, so it is not an administrator. */
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

/**
 * Only the id and the subject identify a user of an external issuer, because that issuer may let users choose their
 * names.
 */
function namesOf({ kind, id, name, isNameUnique, claims }: Identity): readonly string[] {
  if (kind === "token" || isNameUnique) return [name, id];
  const subject = claims["sub"];
  return typeof subject === "string" ? [id, subject] : [id];
}
