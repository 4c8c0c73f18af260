import { isJsonObject, type JsonObject, stringMember } from "../../core/json.ts";
import { RPC } from "../../wire/messages.ts";
import { LATEST_LEGACY_REVISION, LEGACY_REVISIONS } from "../../wire/legacy/revisions.ts";
import type { Era } from "../era.ts";
import { failureOf } from "../faults.ts";
import type { Handshake } from "../handshake.ts";
import { readOpening } from "../server-opening.ts";

/** The oldest one, assumed of a server that does not say which it speaks. */
const OLDEST_LEGACY_REVISION = "2024-11-05";

/** Opens a connection by `initialize` and `notifications/initialized`. Rejects with a `FailError`. */
export async function initialize({ exchange, transport, options }: Handshake, signal: AbortSignal): Promise<Era> {
  const { clientInfo, capabilities, logger } = options;
  const ask = (protocolVersion: string): Promise<JsonObject> =>
    // The handshake must not be cancelled by message: whoever gives up closes the connection.
    exchange.request("initialize", { protocolVersion, capabilities, clientInfo }, { signal, cancelBy: "nothing" });
  const result = await ask(LATEST_LEGACY_REVISION.date).catch((error: unknown) => {
    // A server should answer with what it speaks; some refuse, and the oldest of them do not say what they would take.
    const { rpcError } = failureOf(error);
    if (!rpcError || rpcError.code === RPC.methodNotFound || exchange.closed) throw error;
    return ask(spokenRevision(rpcError.data) ?? OLDEST_LEGACY_REVISION).catch(() => Promise.reject(error as Error));
  });
  const revision = stringMember(result, "protocolVersion");
  if (revision === undefined)
    logger.warning("The server did not say which protocol revision it speaks; the oldest is assumed.");
  const era = legacyEra(result, revision ?? OLDEST_LEGACY_REVISION);
  transport.setProtocolVersion(era.revision);
  await exchange.post({ jsonrpc: "2.0", method: "notifications/initialized" });
  return era;
}

function spokenRevision(data: unknown): string | undefined {
  const supported = isJsonObject(data) ? data["supported"] : undefined;
  if (!Array.isArray(supported)) return undefined;
  return LEGACY_REVISIONS.slice(1).find(({ date }) => supported.includes(date))?.date;
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
