import type { JsonObject } from "../../../core/json/json.ts";
import type { RpcErrorObject } from "../../../core/calls/outcome.ts";
import { RPC, type RpcRequest } from "../../../wire/messages.ts";
import {
  isModernRevision,
  META,
  MODERN_REVISIONS,
  readEnvelope,
  type Envelope,
} from "../../../wire/modern/envelope.ts";
import { findStandardMismatch, HEADERS, type HeaderLookup, type HeaderMismatch } from "../../../wire/modern/headers.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/** Result of the checks. `status` is the HTTP status; other transports ignore it. */
export type RequestAdmission =
  | { readonly ok: true; readonly envelope: Envelope; readonly meta: JsonObject }
  | { readonly ok: false; readonly status: number; readonly error: RpcErrorObject };

/**
 * Checks a modern request before its method is run: a complete envelope, a supported revision and, on HTTP, headers
 * that match the body. If a request has several problems, the first one in this order is reported.
 */
export function admit(message: RpcRequest, headers?: HeaderLookup): RequestAdmission {
  const reading = readEnvelope(message.params);
  if (reading.type === "none")
    return refused(
      RPC.invalidParams,
      `Invalid params: the request is missing the required \`_meta\` key ${META.protocolVersion}`,
    );
  if (reading.type === "invalid") {
    const fault = reading.faults[0]!;
    return refused(
      RPC.invalidParams,
      `Invalid _meta envelope for protocol revision ${MODERN_REVISIONS[0]}: ${fault.key}: ${fault.problem}`,
      { envelope: fault },
    );
  }
  const { protocolVersion } = reading.envelope;
  const contradiction = headers && findContradiction(message, protocolVersion, headers);
  if (contradiction) return mismatched(contradiction);
  if (!isModernRevision(protocolVersion)) {
    const data = { supported: MODERN_REVISIONS, requested: protocolVersion };
    return refused(
      RPC.unsupportedProtocolVersion,
      `Unsupported protocol version: ${firstChars(protocolVersion, MAX_QUOTED)}`,
      data,
    );
  }
  const missing = headers && findMissing(message, headers);
  return missing ? mismatched(missing) : { ok: true, envelope: reading.envelope, meta: reading.meta };
}

export function mismatched({ header, problem }: HeaderMismatch): RequestAdmission & { readonly ok: false } {
  return refused(RPC.headerMismatch, `Bad Request: the request headers and body disagree: ${problem}`, {
    mismatch: { header, body: problem },
  });
}

/** Returns the first header that differs from the body. */
function findContradiction(
  { method }: RpcRequest,
  protocolVersion: string,
  headers: HeaderLookup,
): HeaderMismatch | undefined {
  const version = headers.header("mcp-protocol-version")?.trim();
  if (version !== undefined && version !== protocolVersion) {
    const [body, header] = [protocolVersion, `${HEADERS.protocolVersion} header`];
    return { header: version, problem: `the body names protocol version ${body} but the ${header} names ${version}` };
  }
  const named = headers.header("mcp-method")?.trim();
  if (named === undefined || named === method) return undefined;
  return { header: named, problem: `the body names method ${method} but the ${HEADERS.method} header names ${named}` };
}

/** Returns the first missing header that the body requires. */
function findMissing({ method, params }: RpcRequest, headers: HeaderLookup): HeaderMismatch | undefined {
  if (headers.header("mcp-protocol-version") === undefined)
    return { header: "(missing)", problem: `the required ${HEADERS.protocolVersion} header is absent` };
  return findStandardMismatch(method, params, headers);
}

function refused(code: number, message: string, data?: JsonObject): RequestAdmission & { readonly ok: false } {
  return { ok: false, status: 400, error: { code, message, ...(data && { data }) } };
}

const MAX_QUOTED = 200;
