import type { Cancellation } from "../../core/calls/cancellation.ts";
import { FailError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, type FailExtras } from "../../core/calls/outcome.ts";
import type { FailKind } from "../../core/calls/kinds.ts";
import { causeOf, type RequestCause } from "./cause.ts";

/**
 * Server that a failure concerns: source id and `host:port`. The rest of the URL is not shown, since queries contain
 * keys.
 */
export interface FailurePlace {
  readonly label: string;
  readonly host: string;
  /** Advice for users when the server denies access, as a sentence. @default to configure credentials */
  readonly remedy?: string;
}

/** Failure of a request to `place`, from which the message for callers is built. */
interface ServerTrouble {
  readonly place: FailurePlace;
  readonly what: string;
}

export function httpFailure(kind: FailKind, { place, what }: ServerTrouble, extras: FailExtras = {}): FailError {
  return new FailError(fail(kind, `\`${place.label}\` at ${place.host} ${what}`, extras));
}

/**
 * Returns the part of a URL that may be shown: origin and path. Omits the query and long random-looking parts of the
 * path, because some services put keys there.
 */
export function shownUrl(url: URL): string {
  const path = url.pathname
    .split("/")
    .map((part) => (part.length >= MIN_SECRET_LENGTH && /\d|[A-Z]|%/.test(part) ? "…" : part));
  return `${url.origin}${path.join("/")}`;
}

const MIN_SECRET_LENGTH = 16;

/** Details of a failure after which the server cannot have executed the request. */
export const UNSENT: JsonObject = Object.freeze({ sent: false });

interface FailureDescription {
  readonly kind: FailKind;
  readonly what: string;
  /** True if the server cannot have executed the request. */
  readonly isUnsent?: true;
  readonly isFinal?: true;
}

const unreachable = (what: string): FailureDescription => ({ kind: "unavailable", what, isUnsent: true });

const TOLD: Readonly<Record<RequestCause, FailureDescription>> = {
  refused: unreachable("refused the connection. Start the server, or correct `url`."),
  unknown_host: unreachable("cannot be found: its host name does not resolve. Correct `url`."),
  unresolved: unreachable("cannot be found right now: name resolution failed. Check the network."),
  no_route_host: unreachable("cannot be reached: there is no route to the host. Check the network."),
  no_route_network: unreachable("cannot be reached: there is no route to its network. Check the network."),
  connect_timeout: unreachable(
    "did not accept a connection in time. Check that it runs and that nothing blocks the way.",
  ),
  no_tls: unreachable("does not speak TLS. Use `http` in place of `https`, or correct the port."),
  certificate: {
    ...unreachable(
      "has a certificate that cannot be verified ({code}). " +
        "If it is signed by a CA of your own, name its file in `ca`, or in the variable NODE_EXTRA_CA_CERTS. " +
        "Verification cannot be turned off.",
    ),
    isFinal: true,
  },
  proxy: unreachable("is behind a proxy that refused to connect to it. Check `proxy` and NO_PROXY."),
  silent: {
    kind: "timeout",
    what: "sent nothing for too long. Raise its `timeout` if the work takes longer.",
  },
  not_http: {
    kind: "malformed",
    what: "sent an answer that is not HTTP. Check that `url` points to an MCP server.",
  },
  crowded: {
    kind: "limited",
    what: "has too many requests waiting for one of its connections. Try again later, or raise `max_connections`.",
    isUnsent: true,
  },
  unsendable: {
    ...unreachable(
      "got no request, because a header or the path would contain a character that HTTP does not allow, " +
        "such as a line break. Check its `url`, `headers` and credentials.",
    ),
    isFinal: true,
  },
  broken: { kind: "unavailable", what: "closed the connection before the answer was complete." },
};

/** Returns the failure of a request without a response. An abort is rethrown with its reason. */
export function toRequestFailure(error: unknown, place: FailurePlace, signal: Cancellation): FailError {
  if (signal.aborted) return toAbortFailure(signal.reason, place);
  if (error instanceof FailError) return error;
  const { cause, code } = causeOf(error);
  const { kind, what, isUnsent, isFinal } = TOLD[cause];
  return httpFailure(
    kind,
    { place, what: what.replace("{code}", code) },
    {
      ...(isUnsent && { details: UNSENT }),
      ...(isFinal && { retryable: false }),
      cause: error,
    },
  );
}

function toAbortFailure(reason: unknown, place: FailurePlace): FailError {
  return reason instanceof FailError
    ? reason
    : httpFailure("cancelled", { place, what: "is not used any more: the request was cancelled." }, { cause: reason });
}
