import { isJsonObject, objectMember, type JsonObject } from "../../core/json/json.ts";
import type { RpcErrorObject } from "../../core/calls/outcome.ts";
import { hasTasksExtension } from "../../core/ports/tasks.ts";
import { RPC } from "../../wire/messages.ts";
import { LATEST_MODERN_REVISION, META, MODERN_REVISIONS, writeEnvelope } from "../../wire/modern/envelope.ts";
import { passableCapabilities, withTasksExtension } from "../connection/capabilities.ts";
import type { Era, HandshakeOptions, Implementation, OnBehalf } from "../connection/era.ts";
import type { Handshake } from "../connection/handshake.ts";
import { readOpening } from "../connection/server-opening.ts";

export type DiscoverVerdict =
  | { readonly type: "modern"; readonly era: Era }
  /** The server answered, but not like a modern server. `reason` is its own text. */
  | { readonly type: "other"; readonly reason: string };

/** Maximum number of probes of a server that refuses a revision and names another supported one. */
const MAX_PROBES = 2;

type Revision = (typeof MODERN_REVISIONS)[number];

/**
 * Probes whether the server supports the modern era. Rejects with a `FailError` only if the connection failed or
 * `signal` aborted.
 */
export async function discover(handshake: Handshake, signal: AbortSignal): Promise<DiscoverVerdict> {
  const { exchange, transport, options } = handshake;
  let asked: Revision = LATEST_MODERN_REVISION;
  for (let probe = 1; ; probe += 1) {
    const params = { _meta: envelopeWriter(asked, options)({}) };
    const reply = await exchange.start("server/discover", params, {
      signal,
      cancelBy: transport.perRequestStreams ? "stream" : "nothing",
    }).reply;
    if (!("error" in reply)) return verdictOn(reply.result, handshake);
    const offered = offeredRevision(reply.error);
    if (offered === undefined || probe === MAX_PROBES) return { type: "other", reason: refusal(reply.error) };
    asked = offered;
  }
}

/** Sends a ping. Resolves with any reply: a modern server refuses a ping, and a legacy server answers it. */
export function knock({ exchange, options }: Handshake, signal: AbortSignal): Promise<unknown> {
  const params = { _meta: envelopeWriter(LATEST_MODERN_REVISION, options)({}) };
  return exchange.start("ping", params, { signal, cancelBy: "nothing" }).reply;
}

function verdictOn(result: JsonObject, handshake: Handshake): DiscoverVerdict {
  const revision = knownAmong(result["supportedVersions"]);
  if (revision === undefined)
    return { type: "other", reason: "it names no revision of the modern era that the hub supports" };
  return { type: "modern", era: modernEra(result, revision, handshake) };
}

function offeredRevision({ code, data }: RpcErrorObject): Revision | undefined {
  return code === RPC.unsupportedProtocolVersion && isJsonObject(data) ? knownAmong(data["supported"]) : undefined;
}

function knownAmong(versions: unknown): Revision | undefined {
  return Array.isArray(versions) ? MODERN_REVISIONS.find((known) => versions.includes(known)) : undefined;
}

function refusal(error: RpcErrorObject): string {
  if (error.code !== RPC.unsupportedProtocolVersion) return `it answered the probe with error ${error.code}`;
  const supported = isJsonObject(error.data) ? error.data["supported"] : undefined;
  return `it supports ${Array.isArray(supported) ? supported.slice(0, 10).join(", ") : "other revisions"}`;
}

function modernEra(result: JsonObject, revision: string, { transport, options }: Handshake): Era {
  const meta = objectMember(result, "_meta") ?? {};
  const opening = readOpening(result, meta[META.serverInfo] ?? result["serverInfo"]);
  return {
    name: "modern",
    revision,
    ...opening,
    ...(result["cacheScope"] === "private" && { isPrivate: true }),
    cancelBy: transport.perRequestStreams ? "stream" : "message",
    envelope: envelopeWriter(revision, options, hasTasksExtension(opening.capabilities)),
  };
}

function envelopeWriter(protocolVersion: string, options: HandshakeOptions, declaresTasks = false) {
  const declared = declaresTasks ? withTasksExtension : (capabilities: JsonObject) => capabilities;
  return (meta: JsonObject, from?: OnBehalf): JsonObject =>
    writeEnvelope(meta, {
      protocolVersion,
      clientCapabilities: declared(from ? passableCapabilities(from.client.capabilities) : options.capabilities),
      clientInfo: (from && clientInfoOf(from)) ?? options.clientInfo,
      logLevel: from?.logLevel,
    });
}

function clientInfoOf({ client }: OnBehalf): Implementation | undefined {
  return client.name === undefined ? undefined : { name: client.name, version: client.version ?? "0" };
}
