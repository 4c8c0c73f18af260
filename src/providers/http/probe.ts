import { VERSION } from "../../core/version.ts";
import { HttpClient } from "../../outbound/client/http-client.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import { readChallenge, type Challenge } from "../../signin/challenge.ts";
import { connectionOptions } from "./connection-options.ts";
import type { RemoteServerOptions } from "./options.ts";

export interface Probing {
  /** Id of the source. */
  readonly label: string;
  readonly options: RemoteServerOptions;
  readonly environment: ProxyEnvironment;
  /** Goes with the request; absent: it comes as a stranger. */
  readonly authorization?: string;
  readonly signal: AbortSignal;
}

const SILENCE_MS = 15_000;

/** How a server answers the first request of a client, by its status, without reading the answer. */
export async function probe({ label, options, environment, authorization, signal }: Probing): Promise<Challenge> {
  const client = new HttpClient({
    ...connectionOptions(options.url, options, environment),
    label,
    headers: options.headers,
    maxConnections: 1,
  });
  try {
    const { status, header, body } = await client.request({
      method: options.transport === "sse" ? "GET" : "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...(authorization !== undefined && { authorization }),
      },
      ...(options.transport !== "sse" && { body: FIRST_REQUEST }),
      signal,
      idleMs: SILENCE_MS,
    });
    body.destroy();
    return readChallenge(status, header("www-authenticate"));
  } finally {
    await client.close();
  }
}

const FIRST_REQUEST = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "toolyard", version: VERSION } },
});
