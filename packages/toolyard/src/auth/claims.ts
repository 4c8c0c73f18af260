import { MAX_CLAIM_BYTES, type Identity } from "../core/calls/identity.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { TokenError } from "./token-error.ts";

/** Names of the claims of one provider. */
export interface ClaimNames {
  readonly nameClaim: string;
  readonly groupsClaim: string;
}

const MAX_GROUPS = 1000;
const MAX_ID_CHARS = 256;
const MAX_NAME_CHARS = 256;
/** Claims that are not stored, because they change with each token or are not compared by any role. */
const LEFT_OUT = new Set(["exp", "iat", "nbf", "jti", "cnf", "active", "token_type"]);

/** Returns the identity that verified claims describe. Throws a `TokenError` if the claims name no user. */
export function identityOfClaims(claims: JsonObject, issuer: string, names: ClaimNames): Identity {
  const clientId = text(claims["client_id"]) ?? text(claims["azp"]) ?? text(claims["appid"]);
  const subject = text(claims["sub"]) ?? clientId;
  if (subject === undefined || subject.length > MAX_ID_CHARS || /\p{Cc}/u.test(subject))
    throw new TokenError("The access token has no usable `sub` claim");
  const isClient = subject === clientId;
  return Object.freeze({
    kind: isClient ? "client" : "user",
    id: `${issuer}|${isClient ? "client" : "user"}|${subject}`,
    name: nameOf(claims, names.nameClaim) ?? subject,
    issuer,
    ...(clientId !== undefined && { clientId }),
    groups: groupsOf(claimAt(claims, names.groupsClaim)),
    scopes: scopesOf(claims),
    claims: boundedClaims(claims),
    ...(typeof claims["exp"] === "number" && { expiresAt: claims["exp"] * 1000 }),
    ...bindingOf(claims["cnf"]),
  });
}

function bindingOf(confirmation: unknown): Pick<Identity, "boundKey"> {
  const boundKey = boundKeyOf(confirmation);
  return boundKey === undefined ? {} : { boundKey };
}

/**
 * Returns the thumbprint of the key to which a token is bound (RFC 9449 section 6), or `undefined` for a bearer token.
 * Throws a `TokenError` for any other confirmation, such as a certificate, since the hub cannot check it. Unknown
 * members are ignored (RFC 7800 section 3.1), because Keycloak adds one.
 */
export function boundKeyOf(confirmation: unknown): string | undefined {
  if (confirmation === undefined || confirmation === null) return undefined;
  const members = isJsonObject(confirmation) ? confirmation : {};
  const { jkt } = members;
  const isThumbprint = typeof jkt === "string" && /^[A-Za-z0-9_-]{43}$/.test(jkt);
  if (isThumbprint && !OTHER_CONFIRMATIONS.some((name) => Object.hasOwn(members, name))) return jkt;
  throw new TokenError("The token is bound to a key in a way that this hub does not support");
}

/** Confirmation methods of RFC 7800, RFC 8705 and RFC 9203 that the hub does not support. */
const OTHER_CONFIRMATIONS = ["jwk", "jwe", "kid", "jku", "x5t#S256", "osc"];

function nameOf(claims: JsonObject, nameClaim: string): string | undefined {
  const name = text(claimAt(claims, nameClaim)) ?? text(claims["username"]) ?? text(claims["email"]);
  return name === undefined || name.length > MAX_NAME_CHARS || /\p{Cc}/u.test(name) ? undefined : name;
}

/** Returns the scopes from `scope` (RFC 9068, RFC 7662), or from `scp` of Entra ID (a string) or Okta (a list). */
function scopesOf(claims: JsonObject): readonly string[] {
  const value = claims["scope"] ?? claims["scp"];
  if (typeof value === "string") return value.split(" ").filter((scope) => scope !== "");
  return Array.isArray(value) ? value.filter((scope): scope is string => typeof scope === "string") : [];
}

/** Returns the groups of a claim. Throws a `TokenError` if there are more than `MAX_GROUPS`. */
export function groupsOf(value: unknown): readonly string[] {
  const groups = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  // A truncated list could omit a group that a role denies.
  if (groups.length > MAX_GROUPS) throw new TokenError(`The access token names more than ${MAX_GROUPS} groups`);
  return groups.filter((group): group is string => typeof group === "string" && group.length <= MAX_NAME_CHARS);
}

/** Returns the claim with this name, or the claim at this dotted path. */
export function claimAt(claims: JsonObject, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split("."))
    value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** Returns the claims that fit into the size limit, in their order. */
export function boundedClaims(claims: JsonObject): JsonObject {
  const kept: Record<string, unknown> = {};
  let bytes = 2;
  for (const [name, value] of Object.entries(claims)) {
    const size = Buffer.byteLength(JSON.stringify([name, value]));
    if (LEFT_OUT.has(name) || bytes + size > MAX_CLAIM_BYTES) continue;
    kept[name] = value;
    bytes += size;
  }
  return Object.freeze(kept);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
