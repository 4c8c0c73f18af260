import type { JsonObject } from "../../../core/json.ts";
import type { RpcErrorObject } from "../../../core/outcome.ts";
import { RPC, type RpcRequest } from "../../../wire/messages.ts";
import {
  isModernRevision,
  META,
  MODERN_REVISIONS,
  readEnvelope,
  type Envelope,
} from "../../../wire/modern/envelope.ts";
import { findStandardMismatch, HEADERS, type HeaderLookup, type HeaderMismatch } from "../../../wire/modern/headers.ts";

/** `status` is the HTTP status; other transports have no use for it. */
export type Admission =
  | { readonly ok: true; readonly envelope: Envelope; readonly meta: JsonObject }
  | { readonly ok: false; readonly status: number; readonly error: RpcErrorObject };

/**
 * What every modern request must bring before anybody looks at its method: a whole envelope, a revision that is spoken
 * here and, on HTTP, headers that say the same as the body. A request with several faults is answered for the first of
 * this order.
 */
export function admit({ method, params }: RpcRequest, headers?: HeaderLookup): Admission {
  const reading = readEnvelope(params);
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
  const header = headers?.header("mcp-protocol-version")?.trim();
  if (header !== undefined && header !== protocolVersion) {
    return mismatched({
      header,
      problem:
        `the body names protocol version ${protocolVersion} but the ${HEADERS.protocolVersion} header names ` +
        `${header}`,
    });
  }
  const given = headers?.header("mcp-method")?.trim();
  if (given !== undefined && given !== method)
    return mismatched({
      header: given,
      problem: `the body names method ${method} but the ${HEADERS.method} header names ${given}`,
    });
  if (!isModernRevision(protocolVersion)) {
    const data = { supported: MODERN_REVISIONS, requested: protocolVersion };
    return refused(
      RPC.unsupportedProtocolVersion,
      `Unsupported protocol version: ${protocolVersion.slice(0, MAX_QUOTED)}`,
      data,
    );
  }
  const missing = headers && missingHeader(method, params, headers, header);
  return missing ? mismatched(missing) : { ok: true, envelope: reading.envelope, meta: reading.meta };
}

export function mismatched({ header, problem }: HeaderMismatch): Admission & { readonly ok: false } {
  return refused(RPC.headerMismatch, `Bad Request: the request headers and body disagree: ${problem}`, {
    mismatch: { header, body: problem },
  });
}

function missingHeader(
  method: string,
  params: JsonObject | undefined,
  headers: HeaderLookup,
  version: string | undefined,
): HeaderMismatch | undefined {
  if (version === undefined)
    return { header: "(missing)", problem: `the required ${HEADERS.protocolVersion} header is absent` };
  return findStandardMismatch(method, params, headers);
}

function refused(code: number, message: string, data?: JsonObject): Admission & { readonly ok: false } {
  return { ok: false, status: 400, error: { code, message, ...(data && { data }) } };
}

const MAX_QUOTED = 200;
