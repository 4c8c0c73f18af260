import { isLoopbackHost } from "../../core/uris/loopback.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/**
 * Normalises client metadata for the values that clients send in practice. Every client counts as `native`: https and
 * private schemes are allowed, and http for loopback addresses only, with any port (RFC 8252 section 7.3). Scopes are
 * removed, because the user grants them. Grant types that self-registered clients may not use are removed too. Never
 * adds a redirect address.
 */
export function normaliseClient(metadata: JsonObject): JsonObject {
  const { scope: _scope, grant_types: grants, response_types: _types, ...rest } = metadata;
  // A client that registers itself acts for users only: a grant type without a user would need no consent.
  const kept = USER_GRANTS.filter((grant) => grants === undefined || stringsOf(grants).includes(grant));
  const hasDeviceFlow = stringsOf(grants).includes(DEVICE_GRANT);
  const needsRedirect = !hasDeviceFlow || stringsOf(metadata["redirect_uris"]).length > 0;
  return {
    ...rest,
    grant_types: [
      ...new Set([
        ...(needsRedirect ? ["authorization_code"] : []),
        ...kept.filter((grant) => needsRedirect || grant !== "authorization_code"),
        ...(hasDeviceFlow ? [DEVICE_GRANT] : []),
      ]),
    ],
    response_types: needsRedirect ? ["code"] : [],
    application_type: "native",
    ...(!needsRedirect && { redirect_uris: [] }),
  };
}

const USER_GRANTS = ["authorization_code", "refresh_token"];
/** Grant of clients without a browser (RFC 8628). The user consents on another device. */
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

/** Returns the target of a redirect address for display: the host, or the scheme of an app. */
export function redirectTarget(redirect: string): { readonly host: string; readonly isLocal: boolean } {
  const url = new URL(redirect);
  if (!/^https?:$/.test(url.protocol)) return { host: `${url.protocol}//`, isLocal: true };
  return { host: url.host, isLocal: isLoopbackHost(url.hostname) };
}

/** Returns the CSP source for `form-action` that permits a redirect of the form to this address. */
export function formActionOf(redirect: string): string {
  const url = new URL(redirect);
  // CSP has no syntax for IPv6 addresses, and private schemes have no host.
  return /^https?:$/.test(url.protocol) && !url.hostname.startsWith("[") ? url.origin : url.protocol;
}

/** Returns the JSON object of a body, or `undefined`. */
export function objectOf(body: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
