import { isJsonObject, type JsonObject, stringMember } from "../../core/json/json.ts";
import type { Fail, RpcErrorObject } from "../../core/calls/outcome.ts";
import { RPC } from "../../wire/messages.ts";
import { LATEST_LEGACY_REVISION, LEGACY_REVISIONS } from "../../wire/legacy/revisions.ts";
import type { Era } from "../connection/era.ts";
import { failureOf } from "../faults.ts";
import type { Handshake } from "../connection/handshake.ts";
import { readOpening } from "../connection/server-opening.ts";

/** The oldest revision. It is assumed for a server that names none. */
const OLDEST_LEGACY_REVISION = "2024-11-05";

/**
 * Opens a connection with `initialize` and `notifications/initialized`. If the server refuses the revision, tries once
 * more with a revision that the server names, or with the oldest. Rejects with a `FailError`.
 */
export async function initialize(handshake: Handshake, signal: AbortSignal): Promise<Era> {
  const { exchange, options } = handshake;
  const { protocolVersion: first = LATEST_LEGACY_REVISION.date } = options;
  const era = await open(handshake, first, signal).catch((error: unknown) => {
    const revision = otherRevision(failureOf(error), first);
    if (revision === undefined || exchange.closed) throw error;
    return open(handshake, revision, signal).catch(() => Promise.reject(error as Error));
  });
  // This message is the first one with the revision in a header, and some servers refuse here a revision that they
  // accepted in `initialize`.
  const refused = await announce(handshake);
  const revision = refused && !refused.rpcError ? otherRevision(refused, era.revision) : undefined;
  if (revision === undefined || exchange.closed) return era;
  const next = await open(handshake, revision, signal);
  await announce(handshake);
  return next;
}

async function open({ exchange, transport, options }: Handshake, asked: string, signal: AbortSignal): Promise<Era> {
  const { clientInfo, capabilities, logger } = options;
  const params = { protocolVersion: asked, capabilities, clientInfo };
  // An abort sends no message, because a client must not cancel its handshake. The connection is closed instead.
  const result = await exchange.request("initialize", params, { signal, cancelBy: "nothing" });
  const revision = stringMember(result, "protocolVersion");
  if (revision === undefined) logger.warning("The server did not name its protocol revision; the oldest is assumed.");
  const era = legacyEra(result, revision ?? OLDEST_LEGACY_REVISION);
  transport.setProtocolVersion(era.revision);
  return era;
}

function announce({ exchange }: Handshake): Promise<Fail | undefined> {
  return exchange.post({ jsonrpc: "2.0", method: "notifications/initialized" });
}

/**
 * Returns the revision to try after a refusal: the newest that the server names, else the oldest. Servers should answer
 * with a supported revision, but some refuse with an error, or with HTTP 400 and a text.
 */
function otherRevision({ rpcError, details }: Fail, refused: string): string | undefined {
  const revisions: unknown = rpcError ? supportedBy(rpcError) : details?.["revisions"];
  if (!Array.isArray(revisions)) return undefined;
  const spoken = LEGACY_REVISIONS.find(({ date }) => date !== refused && revisions.includes(date));
  return spoken?.date ?? (refused === OLDEST_LEGACY_REVISION ? undefined : OLDEST_LEGACY_REVISION);
}

function supportedBy({ code, data }: RpcErrorObject): unknown {
  if (code === RPC.methodNotFound) return undefined;
  const supported = isJsonObject(data) ? data["supported"] : undefined;
  return Array.isArray(supported) ? supported : [];
}

function legacyEra(result: JsonObject, revision: string): Era {
  return {
    name: "legacy",
    revision,
    ...readOpening(result, result["serverInfo"]),
    cancelBy: "message",
    envelope: (meta) => meta,
  };
}
