import { isRequestId, type RequestId } from "../messages.ts";
import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json/json.ts";

/** Revisions of the modern era that this program supports, the newest first. */
export const MODERN_REVISIONS = ["2026-07-28"] as const;

export const LATEST_MODERN_REVISION = MODERN_REVISIONS[0];

export function isModernRevision(revision: unknown): boolean {
  return (MODERN_REVISIONS as readonly unknown[]).includes(revision);
}

/** `_meta` keys that the modern era reserves. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  /** In results: server info of the server that answered. */
  serverInfo: "io.modelcontextprotocol/serverInfo",
  /** In messages of a `subscriptions/listen` stream: the id of its request. */
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

const ENVELOPE_KEYS: readonly string[] = [
  META.protocolVersion,
  META.clientCapabilities,
  META.clientInfo,
  META.logLevel,
];

export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** Information about the sender of a modern request, in `params._meta`. */
export interface Envelope {
  readonly protocolVersion: string;
  readonly clientCapabilities: JsonObject;
  /** `{name, version, …}`. Clients should send it, but need not. */
  readonly clientInfo?: JsonObject | undefined;
  /** Lowest level of log messages that the client requests. Absent: none. */
  readonly logLevel?: string | undefined;
}

/** Problem of an envelope: the `_meta` key, and `missing` or a description. */
export interface EnvelopeFault {
  readonly key: string;
  readonly problem: string;
}

export type EnvelopeReading =
  /** There is no key `protocolVersion`, so the message is not modern. */
  | { readonly type: "none" }
  | { readonly type: "invalid"; readonly faults: readonly EnvelopeFault[] }
  /** Valid envelope. `meta`: the other members of `_meta`. */
  | { readonly type: "envelope"; readonly envelope: Envelope; readonly meta: JsonObject };

/** Returns true if the `params` of a message have a modern version key, valid or not. */
export function claimsModernEra(params: unknown): boolean {
  const meta = isJsonObject(params) ? objectMember(params, "_meta") : undefined;
  return meta !== undefined && META.protocolVersion in meta;
}

/** Reads and checks the envelope. Does not check that the revision is supported; see `isModernRevision`. */
export function readEnvelope(params: JsonObject | undefined): EnvelopeReading {
  const meta = params && objectMember(params, "_meta");
  if (!meta || !(META.protocolVersion in meta)) return { type: "none" };
  const protocolVersion = stringMember(meta, META.protocolVersion);
  const clientCapabilities = objectMember(meta, META.clientCapabilities);
  const faults = findEnvelopeFaults(meta);
  if (faults.length > 0 || protocolVersion === undefined || clientCapabilities === undefined)
    return { type: "invalid", faults };
  const clientInfo = objectMember(meta, META.clientInfo);
  const logLevel = stringMember(meta, META.logLevel);
  const envelope: Envelope = { protocolVersion, clientCapabilities, clientInfo, logLevel };
  return { type: "envelope", envelope, meta: withoutEnvelope(meta) };
}

/** Returns the problems of an envelope. In a modern request, an absent `_meta` counts as `{}`. */
export function findEnvelopeFaults(meta: JsonObject): readonly EnvelopeFault[] {
  const { protocolVersion, clientCapabilities, clientInfo, logLevel } = META;
  const faults: EnvelopeFault[] = [];
  const version = meta[protocolVersion];
  const capabilities = meta[clientCapabilities];
  const info = meta[clientInfo];
  const level = meta[logLevel];
  if (version === undefined) faults.push({ key: protocolVersion, problem: "missing" });
  else if (typeof version !== "string") faults.push({ key: protocolVersion, problem: "must be a string" });
  if (capabilities === undefined) faults.push({ key: clientCapabilities, problem: "missing" });
  else if (!isJsonObject(capabilities)) faults.push({ key: clientCapabilities, problem: "must be an object" });
  if (info !== undefined && !isImplementation(info))
    faults.push({ key: clientInfo, problem: "must be an object with `name` and `version`" });
  if (level !== undefined && !(LOG_LEVELS as readonly unknown[]).includes(level))
    faults.push({ key: logLevel, problem: `must be one of ${LOG_LEVELS.join(", ")}` });
  return faults;
}

function isImplementation(value: unknown): boolean {
  return isJsonObject(value) && typeof value["name"] === "string" && typeof value["version"] === "string";
}

/** Returns `meta` with the members of the envelope. Other members stay unchanged. */
export function writeEnvelope(meta: JsonObject, envelope: Envelope): JsonObject {
  const { protocolVersion, clientCapabilities, clientInfo, logLevel } = envelope;
  const written = withoutEnvelope(meta);
  written[META.protocolVersion] = protocolVersion;
  written[META.clientCapabilities] = clientCapabilities;
  if (clientInfo) written[META.clientInfo] = clientInfo;
  if (logLevel !== undefined) written[META.logLevel] = logLevel;
  return written;
}

/** Returns `meta` without the four keys of the envelope, which must not be forwarded. */
function withoutEnvelope(meta: JsonObject): JsonObject {
  // Most requests have no other members in `_meta`, so nothing is copied for them.
  for (const name in meta)
    if (!ENVELOPE_KEYS.includes(name))
      return Object.fromEntries(Object.entries(meta).filter(([key]) => !ENVELOPE_KEYS.includes(key)));
  return {};
}

/** Returns the id of the `subscriptions/listen` request to which a notification belongs. */
export function subscriptionIdOf(params: JsonObject | undefined): RequestId | undefined {
  const meta = params && objectMember(params, "_meta");
  const id = meta?.[META.subscriptionId];
  return isRequestId(id) ? id : undefined;
}
