import type { Cancellation } from "../../core/cancellation.ts";
import { FailError, messageOf } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { fail, type FailExtras } from "../../core/outcome.ts";
import type { FailKind } from "../../core/kinds.ts";

/**
 * Who a failure is about: the source's id and `host:port`. Nothing else of the URL is shown, since queries hold keys.
 */
export interface Place {
  readonly label: string;
  readonly host: string;
}

export function httpFailure(kind: FailKind, place: Place, what: string, extras: FailExtras = {}): FailError {
  return new FailError(fail(kind, `\`${place.label}\` at ${place.host} ${what}`, extras));
}

/**
 * What may be shown of a URL: its origin and path. Some services hand out keys as a part of the path, so long
 * random-looking parts are left out, as is the query.
 */
export function shownUrl(url: URL): string {
  const path = url.pathname
    .split("/")
    .map((part) => (part.length >= MIN_SECRET_LENGTH && /\d|[A-Z]|%/.test(part) ? "…" : part));
  return `${url.origin}${path.join("/")}`;
}

const MIN_SECRET_LENGTH = 16;

/** Marks a failure of something that the server cannot have begun to work on. */
const UNSENT: JsonObject = Object.freeze({ sent: false });

const UNREACHABLE: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "refused the connection. Start the server, or correct `url`."],
  ["ENOTFOUND", "cannot be found: its host name does not resolve. Correct `url`."],
  ["EAI_AGAIN", "cannot be found right now: name resolution failed. Check the network."],
  ["EHOSTUNREACH", "cannot be reached: there is no route to the host. Check the network."],
  ["ENETUNREACH", "cannot be reached: there is no route to its network. Check the network."],
  ["ETIMEDOUT", "did not accept a connection in time. Check that it runs and that nothing blocks the way."],
  [
    "UND_ERR_CONNECT_TIMEOUT",
    "did not accept a connection in time. Check that it runs and that nothing blocks the way.",
  ],
  ["EPROTO", "does not speak TLS. Use `http` in place of `https`, or correct the port."],
]);

const CERTIFICATE = /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_|ERR_SSL|HOSTNAME_MISMATCH|INVALID_CA)/;

/** What a request that brought no response died of. An abort passes through as the reason it was aborted with. */
export function toRequestFailure(error: unknown, place: Place, signal: Cancellation): FailError {
  if (signal.aborted) return toAbortFailure(signal.reason, place);
  if (error instanceof FailError) return error;
  const code = codeOf(error);
  const unreachable = UNREACHABLE.get(code);
  if (unreachable !== undefined)
    return httpFailure("unavailable", place, unreachable, { details: UNSENT, cause: error });
  if (CERTIFICATE.test(code)) {
    const what =
      `has a certificate that cannot be verified (${code}). ` +
      "If it is signed by a CA of your own, name its file in `ca`.";
    return httpFailure("unavailable", place, what, { details: UNSENT, retryable: false, cause: error });
  }
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return httpFailure("timeout", place, "stayed silent for too long. Raise its `timeout` if the work takes longer.", {
      cause: error,
    });
  }
  if (/proxy/i.test(messageOf(error))) {
    return httpFailure(
      "unavailable",
      place,
      "is behind a proxy that refused to connect to it. Check `proxy` and NO_PROXY.",
      { details: UNSENT, cause: error },
    );
  }
  if (
    code.startsWith("HPE_") ||
    code === "UND_ERR_HEADERS_OVERFLOW" ||
    (error instanceof Error && error.name === "HTTPParserError")
  ) {
    return httpFailure(
      "malformed",
      place,
      "answered something that is not HTTP. Check that `url` points to an MCP server.",
      { cause: error },
    );
  }
  return httpFailure("unavailable", place, "closed the connection before the answer was complete.", { cause: error });
}

function toAbortFailure(reason: unknown, place: Place): FailError {
  return reason instanceof FailError
    ? reason
    : httpFailure("cancelled", place, "is not asked any more: the request was given up.", { cause: reason });
}

// A name with several addresses fails with one error for each of them.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.cause === undefined ? "" : codeOf(error.cause);
}

/** What is known of a response that is no answer. `header` takes names in lower case. */
export interface RefusedResponse {
  readonly status: number;
  header(name: string): string | undefined;
}

/** A response without an MCP answer, by its status. */
export function toStatusFailure(response: RefusedResponse, place: Place): FailError {
  const { status } = response;
  if (status === 401 || status === 403) return toSignInFailure(response, place);
  const details = { status };
  const unsent = { status, ...UNSENT };
  const wait = retryAfterMs(response.header("retry-after"), Date.now());
  const later = wait === undefined ? {} : { retryAfterMs: wait };
  if (status === 429)
    return httpFailure("limited", place, `takes no more requests for now (HTTP 429). Try again ${inTime(wait)}.`, {
      details: unsent,
      ...later,
    });
  if (status === 503)
    return httpFailure("unavailable", place, `is not ready (HTTP 503). Try again ${inTime(wait)}.`, {
      details: unsent,
      ...later,
    });
  if (status === 413)
    return httpFailure("too_large", place, "finds the request too large (HTTP 413). Send less at once.", {
      details: unsent,
    });
  if (status >= 500)
    return httpFailure("unavailable", place, `failed (HTTP ${status}). Look into the server's log.`, { details });
  if (status === 404 || status === 405) {
    const what = `offers no MCP at this address (HTTP ${status}). Correct the path in \`url\`.`;
    return httpFailure("unavailable", place, what, { details: unsent, retryable: false });
  }
  if (status >= 400)
    return httpFailure("unavailable", place, `refused the request (HTTP ${status}).`, {
      details: unsent,
      retryable: false,
    });
  return httpFailure(
    "malformed",
    place,
    `answered with HTTP ${status} and no content. Check that \`url\` points to an MCP server.`,
    { details },
  );
}

function toSignInFailure(response: RefusedResponse, place: Place): FailError {
  const challenge = response.header("www-authenticate")?.slice(0, MAX_CHALLENGE_LENGTH) ?? "";
  const signIn = httpUrl(parameterOf(challenge, "resource_metadata"));
  const scope = parameterOf(challenge, "scope");
  const what = response.status === 401 ? "wants a sign-in (HTTP 401)" : "refuses these credentials (HTTP 403)";
  const where = signIn === undefined ? "" : ` Where to sign in is described at ${signIn}.`;
  const details = {
    status: response.status,
    ...UNSENT,
    ...(signIn !== undefined && { signIn }),
    ...(scope !== undefined && { scope }),
  };
  return httpFailure(
    "needs_authorisation",
    place,
    `${what}. Give it a valid \`token\`, \`auth\` or \`headers\`.${where}`,
    { details },
  );
}

const MAX_CHALLENGE_LENGTH = 4096;

function parameterOf(challenge: string, name: string): string | undefined {
  const match = new RegExp(`(?:^|[\\s,])${name}=(?:"([^"]*)"|([^\\s,"]+))`, "i").exec(challenge);
  const value = match?.[1] ?? match?.[2];
  return value === undefined || /[^\x20-\x7e]/.test(value) ? undefined : value;
}

// The text comes from a server that nobody vouches for, and ends up before a person's eyes.
function httpUrl(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
}

const MAX_RETRY_AFTER_MS = 24 * 3600 * 1000;

/** `Retry-After` in seconds or as a date; at most a day. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS) : undefined;
}

function inTime(waitMs: number | undefined): string {
  return waitMs === undefined ? "later" : `in ${Math.ceil(waitMs / 1000)} s`;
}
