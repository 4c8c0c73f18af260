import { isJsonObject, objectMember, stringMember, type JsonObject } from "../../core/json.ts";
import type { Era, HandshakeOptions } from "../era.ts";
import type { Exchange } from "../exchange.ts";
import type { Transport } from "../transport.ts";

/** The revision that is asked for; the server answers with the one it speaks. */
export const LATEST_LEGACY_REVISION = "2025-11-25";

/** The oldest one, assumed of a server that does not say which it speaks. */
const OLDEST_LEGACY_REVISION = "2024-11-05";

/** Opens a connection by `initialize` and `notifications/initialized`. Rejects with a `FailError`. */
export async function initialize(exchange: Exchange, transport: Transport, options: HandshakeOptions, signal: AbortSignal): Promise<Era> {
  const { clientInfo, capabilities, logger } = options;
  const params: JsonObject = { protocolVersion: LATEST_LEGACY_REVISION, capabilities, clientInfo };
  // The handshake must not be cancelled by message: whoever gives up closes the connection.
  const result = await exchange.request("initialize", params, { signal, cancelBy: "nothing" });
  const revision = stringMember(result, "protocolVersion");
  if (revision === undefined) logger.warning("The server did not say which protocol revision it speaks; the oldest is assumed.");
  const era = legacyEra(result, revision ?? OLDEST_LEGACY_REVISION);
  transport.setProtocolVersion(era.revision);
  await exchange.post({ jsonrpc: "2.0", method: "notifications/initialized" });
  return era;
}

function legacyEra(result: JsonObject, revision: string): Era {
  const instructions = stringMember(result, "instructions");
  return {
    name: "legacy",
    revision,
    serverInfo: objectMember(result, "serverInfo") ?? {},
    capabilities: isJsonObject(result["capabilities"]) ? result["capabilities"] : {},
    ...(instructions !== undefined && { instructions }),
    cancelBy: "message",
    envelope: (meta) => meta,
  };
}
