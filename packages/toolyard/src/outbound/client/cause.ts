import { codeOf, messageOf } from "../../core/errors.ts";

/** Reasons why a request ends without a complete answer. */
export type RequestCause =
  | "refused"
  | "unknown_host"
  | "unresolved"
  | "no_route_host"
  | "no_route_network"
  | "connect_timeout"
  | "no_tls"
  | "certificate"
  | "silent"
  | "proxy"
  | "not_http"
  | "crowded"
  | "unsendable"
  | "broken";

const BY_CODE: ReadonlyMap<string, RequestCause> = new Map([
  ["ECONNREFUSED", "refused"],
  ["ENOTFOUND", "unknown_host"],
  ["EAI_AGAIN", "unresolved"],
  ["EHOSTUNREACH", "no_route_host"],
  ["ENETUNREACH", "no_route_network"],
  ["ETIMEDOUT", "connect_timeout"],
  ["UND_ERR_CONNECT_TIMEOUT", "connect_timeout"],
  ["EPROTO", "no_tls"],
  ["UND_ERR_HEADERS_TIMEOUT", "silent"],
  ["UND_ERR_BODY_TIMEOUT", "silent"],
  ["UND_ERR_HEADERS_OVERFLOW", "not_http"],
  ["TOOLYARD_CONNECT_TIMEOUT", "connect_timeout"],
  ["TOOLYARD_SILENT", "silent"],
  ["TOOLYARD_NOT_HTTP", "not_http"],
  ["TOOLYARD_CROWDED", "crowded"],
  ["TOOLYARD_BAD_REQUEST", "unsendable"],
]);

const CERTIFICATE = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_|ERR_SSL|HOSTNAME_MISMATCH|INVALID_CA)/;

/** Returns the reason of a failed request, and the error code if there is one. */
export function causeOf(error: unknown): { readonly cause: RequestCause; readonly code: string } {
  const code = deepCodeOf(error);
  return { cause: BY_CODE.get(code) ?? causeByLooks(error, code), code };
}

/** Returns whether the code is an error of the network, of TLS or of HTTP parsing, and not of an argument. */
export function isOfNetwork(error: unknown): boolean {
  const { cause, code } = causeOf(error);
  return code !== "" && (!["broken", "proxy", "unsendable"].includes(cause) || /^(?:E[A-Z]+$|UND_ERR_)/.test(code));
}

function causeByLooks(error: unknown, code: string): RequestCause {
  if (CERTIFICATE.test(code)) return "certificate";
  if (/proxy/i.test(messageOf(error))) return "proxy";
  const isNoHttp = code.startsWith("HPE_") || (error instanceof Error && error.name === "HTTPParserError");
  return isNoHttp ? "not_http" : "broken";
}

// A host name with several addresses fails with one error for each address.
function deepCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const code = codeOf(error);
  if (code !== undefined) return code;
  if (error instanceof AggregateError) return deepCodeOf(error.errors[0]);
  return error.cause === undefined ? "" : deepCodeOf(error.cause);
}
