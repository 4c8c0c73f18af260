import { FailError } from "../core/errors.ts";
import { formatBytes } from "../core/bytes.ts";
import { formatDuration } from "../core/duration.ts";
import type { FailKind } from "../core/kinds.ts";
import { fail, type FailExtras } from "../core/outcome.ts";
import { NOT_PUBLIC_CODE } from "./addresses.ts";
import { causeOf, type RequestCause } from "./client/cause.ts";

/**
 * A failure of one service on the network. `service` is its name as people know it; no address is told, since it may
 * hold keys.
 */
export function outboundFailure(kind: FailKind, service: string, what: string, extras: FailExtras = {}): FailError {
  return new FailError(fail(kind, `${service} ${what}`, extras));
}

const CLOSED = "closed the connection before its answer was complete.";

const UNAVAILABLE: Readonly<Record<Exclude<RequestCause, "certificate" | "not_http">, string>> = {
  refused: "refused the connection. Check that it runs and that its address is right.",
  unknown_host: "cannot be found: its host name does not resolve. Check its address and the network.",
  unresolved: "cannot be found right now: name resolution failed. Check the network.",
  no_route_host: "cannot be reached: there is no route to it. Check the network.",
  no_route_network: "cannot be reached: there is no route to its network. Check the network.",
  connect_timeout: "did not accept a connection in time. Check the network.",
  no_tls: "does not speak TLS. Use `http` in place of `https`, or correct the port.",
  silent: CLOSED,
  proxy: CLOSED,
  broken: CLOSED,
};

/** What a request that brought no whole answer died of. */
export function toOutboundFailure(error: unknown, service: string): FailError {
  if (error instanceof FailError) return error;
  const { cause, code } = causeOf(error);
  if (code === NOT_PUBLIC_CODE) return notPublic(service);
  if (cause === "certificate")
    return outboundFailure("unavailable", service, `has a certificate that cannot be verified (${code}).`, {
      retryable: false,
      cause: error,
    });
  if (cause === "not_http")
    return outboundFailure("malformed", service, "answered something that is not HTTP. Check its address.", {
      cause: error,
    });
  return outboundFailure("unavailable", service, UNAVAILABLE[cause], { cause: error });
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
