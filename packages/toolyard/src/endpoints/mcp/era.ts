import type { JsonObject } from "../../core/json/json.ts";
import type { ServedEra } from "../../core/sources/served-era.ts";
import type { RpcErrorObject } from "../../core/calls/outcome.ts";
import {
  classifyMessage,
  RPC,
  type ClassifiedMessage,
  type RequestId,
  type RpcNotification,
  type RpcRequest,
} from "../../wire/messages.ts";
import {
  claimsModernEra,
  findEnvelopeFaults,
  isModernRevision,
  META,
  readEnvelope,
} from "../../wire/modern/envelope.ts";
import { HEADERS, type HeaderLookup } from "../../wire/modern/headers.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { isJsonObject, objectMember } from "../../core/json/json.ts";

/** Returns the era that the client's URL selects by `?era=`, or `undefined` if it selects none. */
export function servedEraOf({ query }: Pick<HttpExchange, "query">): ServedEra | undefined {
  const word = query.get("era")?.trim().toLowerCase();
  return word === "auto" || word === "legacy" ? word : undefined;
}

/** Era that handles a posted body. */
export type BodyEra =
  /** Legacy era. `classified` is absent for a batch. */
  | { readonly type: "legacy"; readonly classified?: ClassifiedMessage }
  | { readonly type: "modern-request"; readonly message: RpcRequest }
  | { readonly type: "modern-notification"; readonly message: RpcNotification }
  /** No era: refused with this status and error. */
  | {
      readonly type: "refused";
      readonly status: number;
      readonly id: RequestId | null;
      readonly error: RpcErrorObject;
    };

/**
 * Returns the era of a body for an endpoint that serves only the legacy era. The result is that of a server which
 * supports no other era.
 */
export function eraOfLegacyOnly(body: unknown, headers: HeaderLookup): BodyEra {
  const era = eraOf(body, headers);
  if (era.type === "legacy" || isBatch(body)) return era.type === "legacy" ? era : { type: "legacy" };
  const classified = classifyMessage(body);
  return era.type === "refused" && classified.type === "invalid" ? era : { type: "legacy", classified };
}

/**
 * Returns the era of a body. Only the body decides: a request is modern if its `_meta` names a revision, known or not.
 * The header is compared with the body and never overrides it. A modern header without the body's members is an error.
 */
export function eraOf(body: unknown, headers: HeaderLookup): BodyEra {
  if (Array.isArray(body)) return eraOfBatch(body);
  const classified = classifyMessage(body);
  switch (classified.type) {
    case "invalid":
      return refused(classified.id, {
        code: RPC.invalidRequest,
        message: `Bad Request: the request body is not a valid JSON-RPC message: ${classified.reason}.`,
      });
    case "reply":
      return { type: "legacy", classified };
    case "request":
      return eraOfRequest(classified.message, headers) ?? { type: "legacy", classified };
    case "notification":
      return eraOfNotification(classified.message, headers) ?? { type: "legacy", classified };
  }
}

function isBatch(body: unknown): boolean {
  return Array.isArray(body) && body.length > 0;
}

/** Returns the era of a request, or `undefined` for the legacy era. */
function eraOfRequest(message: RpcRequest, headers: HeaderLookup): BodyEra | undefined {
  const revision = modernHeader(headers);
  if (message.method === "initialize" && !isWellFormedClaim(message.params)) {
    if (revision === undefined) return undefined;
    return mismatch(
      message.id,
      revision,
      "an initialize request belongs to the legacy era, but the header names a modern revision",
    );
  }
  if (claimsModernEra(message.params)) return { type: "modern-request", message };
  if (revision === undefined) return undefined;
  const missing = missingKeys(message.params);
  return refused(message.id, {
    code: RPC.invalidParams,
    message:
      `Invalid params: the ${HEADERS.protocolVersion} header names protocol revision ${revision}, but the ` +
      `request is missing the required per-request envelope key(s): ${missing.join(", ")}`,
    data: { envelope: { missing } },
  });
}

/** Returns the era of a notification, or `undefined` for the legacy era. */
function eraOfNotification(message: RpcNotification, headers: HeaderLookup): BodyEra | undefined {
  if (!claimsModernEra(message.params) && modernHeader(headers) === undefined) return undefined;
  return disagreement(message, headers) ?? { type: "modern-notification", message };
}

/** Returns the refusal of a notification whose revision or method differs between body and headers. */
function disagreement({ method, params = {} }: RpcNotification, headers: HeaderLookup): BodyEra | undefined {
  const claimed = objectMember(params, "_meta")?.[META.protocolVersion];
  if (claimed !== undefined && typeof claimed !== "string") {
    const fault = { key: META.protocolVersion, problem: "must be a string" };
    const message = `Invalid _meta envelope: ${fault.key}: ${fault.problem}`;
    return refused(null, { code: RPC.invalidParams, message, data: { envelope: fault } });
  }
  const header = headers.header("mcp-protocol-version")?.trim();
  if (claimed !== undefined && header !== undefined && claimed !== header) {
    return mismatch(
      null,
      header,
      `the body names protocol version ${claimed} but the ${HEADERS.protocolVersion} header names ${header}`,
    );
  }
  const given = headers.header("mcp-method")?.trim();
  if (given === undefined || given === method) return undefined;
  return mismatch(null, given, `the body names method ${method} but the ${HEADERS.method} header names ${given}`);
}

function eraOfBatch(body: readonly unknown[]): BodyEra {
  if (body.length === 0)
    return refused(null, { code: RPC.invalidRequest, message: "Bad Request: empty JSON-RPC batch" });
  const hasModern = body.some((element) => isJsonObject(element) && claimsModernEra(element["params"]));
  if (!hasModern) return { type: "legacy" };
  return refused(null, {
    code: RPC.invalidRequest,
    message: "Bad Request: JSON-RPC batches may not contain requests for protocol revision 2026-07-28 or later",
  });
}

/** Returns the header if it names a revision of the modern era. The legacy era checks any other value. */
function modernHeader(headers: HeaderLookup): string | undefined {
  const header = headers.header("mcp-protocol-version")?.trim();
  return isModernRevision(header) ? header : undefined;
}

function isWellFormedClaim(params: JsonObject | undefined): boolean {
  const reading = readEnvelope(params);
  return reading.type === "envelope" && isModernRevision(reading.envelope.protocolVersion);
}

function missingKeys(params: JsonObject | undefined): string[] {
  const meta = params && objectMember(params, "_meta");
  if (!meta) return ["_meta"];
  return findEnvelopeFaults(meta)
    .filter(({ problem }) => problem === "missing")
    .map(({ key }) => key);
}

function mismatch(id: RequestId | null, header: string, body: string): BodyEra {
  return refused(id, {
    code: RPC.headerMismatch,
    message: `Bad Request: the request headers and body disagree: ${body}`,
    data: {
      mismatch: { header, body },
    },
  });
}

function refused(id: RequestId | null, error: RpcErrorObject): BodyEra {
  return { type: "refused", status: 400, id, error };
}
