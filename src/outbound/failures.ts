import { FailError } from "../core/errors.ts";
import { formatBytes } from "../core/bytes.ts";
import { formatDuration } from "../core/duration.ts";
import type { FailKind } from "../core/kinds.ts";
import { fail, type FailExtras } from "../core/outcome.ts";
import { NOT_PUBLIC_CODE } from "./addresses.ts";

/**
 * A failure of one service on the network. `service` is its name as people know it; no address is told, since it may
 * hold keys.
 */
export function outboundFailure(kind: FailKind, service: string, what: string, extras: FailExtras = {}): FailError {
  return new FailError(fail(kind, `${service} ${what}`, extras));
}

const UNREACHABLE: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "refused the connection. Check that it runs and that its address is right."],
  ["ENOTFOUND", "cannot be found: its host name does not resolve. Check its address and the network."],
  ["EAI_AGAIN", "cannot be found right now: name resolution failed. Check the network."],
  ["EHOSTUNREACH", "cannot be reached: there is no route to it. Check the network."],
  ["ENETUNREACH", "cannot be reached: there is no route to its network. Check the network."],
  ["ETIMEDOUT", "did not accept a connection in time. Check the network."],
  ["UND_ERR_CONNECT_TIMEOUT", "did not accept a connection in time. Check the network."],
  ["EPROTO", "does not speak TLS. Use `http` in place of `https`, or correct the port."],
]);

const CERTIFICATE = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_|ERR_SSL|HOSTNAME_MISMATCH|INVALID_CA)/;

/** What a request that brought no whole answer died of. */
export function toOutboundFailure(error: unknown, service: string): FailError {
  if (error instanceof FailError) return error;
  const code = codeOf(error);
  const unreachable = UNREACHABLE.get(code);
  if (unreachable !== undefined) return outboundFailure("unavailable", service, unreachable, { cause: error });
  if (code === NOT_PUBLIC_CODE) return notPublic(service);
  if (CERTIFICATE.test(code))
    return outboundFailure("unavailable", service, `has a certificate that cannot be verified (${code}).`, {
      retryable: false,
      cause: error,
    });
  if (code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW")
    return outboundFailure("malformed", service, "answered something that is not HTTP. Check its address.", {
      cause: error,
    });
  return outboundFailure("unavailable", service, "closed the connection before its answer was complete.", {
    cause: error,
  });
}

export function notPublic(service: string): FailError {
  return outboundFailure(
    "denied",
    service,
    "names an address that is not on the public internet, and was not asked for it.",
  );
}

export function outboundTimeout(service: string, timeoutMs: number): FailError {
  return outboundFailure(
    "timeout",
    service,
    `gave no whole answer within ${formatDuration(timeoutMs)}. Try again, or raise its \`timeout\`.`,
    { details: { timeoutMs } },
  );
}

export function outboundTooLarge(service: string, maxBytes: number): FailError {
  return outboundFailure(
    "too_large",
    service,
    `sent an answer of more than ${formatBytes(maxBytes)}, which is not read.`,
    { details: { maxBytes } },
  );
}

/** A status that is no answer, in the words of the table of kinds. */
export function statusFailure(service: string, status: number, retryAfterMs?: number): FailError {
  if (status === 429) {
    const when = retryAfterMs === undefined ? "in a while" : `in ${formatDuration(retryAfterMs)}`;
    return outboundFailure(
      "limited",
      service,
      `has been asked too often (HTTP 429). Try again ${when}.`,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
  if (status === 401 || status === 403)
    return outboundFailure("denied", service, `refused the request (HTTP ${status}). Check its key.`);
  if (status >= 500)
    return outboundFailure("unavailable", service, `has a fault of its own (HTTP ${status}). Try again later.`);
  return outboundFailure("malformed", service, `does not accept the request (HTTP ${status}). Check its address.`);
}

// A name with several addresses fails with one error for each of them.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.cause === undefined ? "" : codeOf(error.cause);
}
