import type { FailError } from "../../../core/errors.ts";
import { retryAfterMs } from "../../../outbound/client/retry-after.ts";
import { httpFailure, UNSENT, type FailurePlace } from "../../../outbound/client/server-failures.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/** A response that is not an answer. `header` expects names in lower case. */
export interface RefusedResponse {
  readonly status: number;
  header(name: string): string | undefined;
}

/**
 * Returns the failure for a response without an MCP answer, by its status. `body` is searched for protocol revisions.
 */
export function toStatusFailure(response: RefusedResponse, place: FailurePlace, body = ""): FailError {
  const { status } = response;
  if (status === 401 || status === 403) return toSignInFailure(response, place);
  const details = { status };
  const unsent = { status, ...UNSENT };
  const wait = retryAfterMs(response.header("retry-after"), Date.now());
  const later = wait === undefined ? {} : { retryAfterMs: wait };
  if (status === 429)
    return httpFailure(
      "limited",
      { place, what: `accepts no more requests for now (HTTP 429). Try again ${inTime(wait)}.` },
      {
        details: unsent,
        ...later,
      },
    );
  if (status === 503)
    return httpFailure(
      "unavailable",
      { place, what: `is not ready (HTTP 503). Try again ${inTime(wait)}.` },
      {
        details: unsent,
        ...later,
      },
    );
  if (status === 413)
    return httpFailure(
      "too_large",
      { place, what: "finds the request too large (HTTP 413). Send less in one call." },
      {
        details: unsent,
      },
    );
  if (status >= 500)
    return httpFailure("unavailable", { place, what: `failed (HTTP ${status}). See the server's log.` }, { details });
  if (status === 404 || status === 405) {
    const what = `offers no MCP at this address (HTTP ${status}). Correct the path in \`url\`.`;
    return httpFailure("unavailable", { place, what }, { details: unsent, retryable: false });
  }
  if (status >= 400)
    return httpFailure(
      "unavailable",
      { place, what: `refused the request (HTTP ${status}).` },
      {
        details: { ...unsent, ...refusedRevision(body) },
        retryable: false,
      },
    );
  return httpFailure(
    "malformed",
    { place, what: `answered with HTTP ${status} and no content. Check that \`url\` points to an MCP server.` },
    { details },
  );
}

/**
 * Returns the revisions that a refusal of the protocol version names, in `details.revisions`. Some servers refuse with
 * a text instead of a JSON-RPC error.
 */
function refusedRevision(body: string): { readonly revisions?: readonly string[] } {
  const text = firstChars(body, MAX_REFUSAL_CHARS);
  if (!/protocol[ _-]?version|unsupported[ a-z]{0,20} version/i.test(text)) return {};
  return { revisions: text.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? [] };
}

const MAX_REFUSAL_CHARS = 2000;

function toSignInFailure(response: RefusedResponse, place: FailurePlace): FailError {
  const challenge = firstChars(response.header("www-authenticate") ?? "", MAX_CHALLENGE_LENGTH);
  const signIn = httpUrl(parameterOf(challenge, "resource_metadata"));
  const scope = parameterOf(challenge, "scope");
  const what = response.status === 401 ? "requires a sign-in (HTTP 401)" : "refuses these credentials (HTTP 403)";
  const where = signIn === undefined ? "" : ` The sign-in is described at ${signIn}.`;
  const details = {
    status: response.status,
    ...UNSENT,
    ...(signIn !== undefined && { signIn }),
    ...(scope !== undefined && { scope }),
  };
  return httpFailure(
    "needs_authorisation",
    { place, what: `${what}. ${place.remedy ?? "Give it a valid `token`, `auth` or `headers`."}${where}` },
    { details },
  );
}

const MAX_CHALLENGE_LENGTH = 4096;

function parameterOf(challenge: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,"]+))`, "i").exec(challenge);
  const value = match?.[1] ?? match?.[2];
  return value === undefined || /[^\x20-\x7e]/.test(value) ? undefined : value;
}

// Only http and https URLs are returned, because the text comes from an untrusted server and is shown to a user.
function httpUrl(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
}

function inTime(waitMs: number | undefined): string {
  return waitMs === undefined ? "later" : `in ${Math.ceil(waitMs / 1000)} s`;
}
