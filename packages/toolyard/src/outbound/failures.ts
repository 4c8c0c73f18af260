import { FailError } from "../core/errors.ts";
import { formatBytes } from "../core/text/bytes.ts";
import { formatDuration } from "../core/text/duration.ts";
import type { FailKind } from "../core/calls/kinds.ts";
import { fail, type FailExtras } from "../core/calls/outcome.ts";
import { NOT_PUBLIC_CODE } from "./addresses.ts";
import { causeOf, type RequestCause } from "./client/cause.ts";

/** A failure of a service, from which the message for callers is built. */
interface ServiceTrouble {
  /** Name of the service for users. Its address is not shown, since it may contain keys. */
  readonly service: string;
  readonly what: string;
}

/** Returns a failure of one service on the network. */
export function outboundFailure(kind: FailKind, { service, what }: ServiceTrouble, extras: FailExtras = {}): FailError {
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
  crowded: "has too many requests waiting. Try again later.",
  unsendable:
    "got no request, because a header or the path would contain a character that HTTP does not allow. " +
    "Check its address and its keys.",
  broken: CLOSED,
};

/** Returns the failure of a request without a complete answer. */
export function toOutboundFailure(error: unknown, service: string): FailError {
  if (error instanceof FailError) return error;
  const { cause, code } = causeOf(error);
  if (code === NOT_PUBLIC_CODE) return notPublic(service);
  if (cause === "certificate")
    return outboundFailure(
      "unavailable",
      { service, what: `has a certificate that cannot be verified (${code}).` },
      {
        retryable: false,
        cause: error,
      },
    );
  if (cause === "not_http")
    return outboundFailure(
      "malformed",
      { service, what: "sent an answer that is not HTTP. Check its address." },
      {
        cause: error,
      },
    );
  return outboundFailure("unavailable", { service, what: UNAVAILABLE[cause] }, { cause: error });
}

export function notPublic(service: string): FailError {
  return outboundFailure("denied", {
    service,
    what: "refers to an address that is not on the public internet, so nothing was requested.",
  });
}

export function outboundTimeout(service: string, timeoutMs: number): FailError {
  return outboundFailure(
    "timeout",
    {
      service,
      what: `sent no complete answer within ${formatDuration(timeoutMs)}. Try again, or raise its \`timeout\`.`,
    },
    { details: { timeoutMs } },
  );
}

export function outboundTooLarge(service: string, maxBytes: number): FailError {
  return outboundFailure(
    "too_large",
    { service, what: `sent an answer of more than ${formatBytes(maxBytes)}, which is not read.` },
    { details: { maxBytes } },
  );
}

/** Returns the failure for an HTTP status that is no success. */
export function statusFailure(service: string, status: number, retryAfterMs?: number): FailError {
  if (status === 429) {
    const when = retryAfterMs === undefined ? "in a while" : `in ${formatDuration(retryAfterMs)}`;
    return outboundFailure(
      "limited",
      { service, what: `received too many requests (HTTP 429). Try again ${when}.` },
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
  if (status === 401 || status === 403)
    return outboundFailure("denied", { service, what: `refused the request (HTTP ${status}). Check its key.` });
  if (status >= 500)
    return outboundFailure("unavailable", {
      service,
      what: `failed (HTTP ${status}). Try again later.`,
    });
  return outboundFailure("malformed", {
    service,
    what: `does not accept the request (HTTP ${status}). Check its address.`,
  });
}
