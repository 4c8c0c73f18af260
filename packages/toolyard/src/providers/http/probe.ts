import { VERSION } from "../../core/version.ts";
import { discard } from "../../outbound/client/body.ts";
import { HttpClient } from "../../outbound/client/http-client.ts";
import type { ProxyEnvironment } from "../../outbound/proxy.ts";
import { readChallenge, type Challenge } from "../../signin/challenge.ts";
import { LATEST_LEGACY_REVISION } from "../../wire/legacy/revisions.ts";
import { LATEST_MODERN_REVISION } from "../../wire/modern/envelope.ts";
import { connectionOptions } from "./connection-options.ts";
import type { RemoteServerOptions } from "./options.ts";

export interface ProbeOptions {
  /** Id of the source. */
  readonly label: string;
  readonly options: RemoteServerOptions;
  readonly environment: ProxyEnvironment;
  readonly signal: AbortSignal;
}

const SILENCE_MS = 15_000;

/**
 * Returns how a server answers a client without a sign-in. Some servers accept the handshake and refuse later requests.
 */
export async function probe({ label, options, environment, signal }: ProbeOptions): Promise<Challenge> {
  const client = new HttpClient({
    ...connectionOptions(options.url, options, environment),
    label,
    headers: options.headers,
    maxConnections: 1,
  });
  try {
    if (options.transport === "sse") return (await ask(client, "GET", { signal })).challenge;
    const first = await ask(client, "POST", { body: INITIALIZE, signal });
    if (isRefusal(first.challenge)) return first.challenge;
    const { session } = first;
    // If the server does not support the legacy handshake, a modern request is sent.
    const revision = first.challenge.status < 300 ? LATEST_LEGACY_REVISION.date : LATEST_MODERN_REVISION;
    const place = { "mcp-protocol-version": revision, ...(session !== undefined && { "mcp-session-id": session }) };
    const second = await ask(client, "POST", { body: LIST, headers: { ...place, "mcp-method": "tools/list" }, signal });
    if (session !== undefined) await ask(client, "DELETE", { headers: place, signal });
    return second.challenge;
  } finally {
    await client.close();
  }
}

/** Returns whether an answer requires a sign-in, or more rights of an existing one. */
export function isRefusal({ status }: Challenge): boolean {
  return status === 401 || status === 403;
}

interface ProbeRequest {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

async function ask(
  client: HttpClient,
  method: "GET" | "POST" | "DELETE",
  { headers, ...asked }: ProbeRequest,
): Promise<{ readonly challenge: Challenge; readonly session: string | undefined }> {
  const { status, header, body } = await client.request({
    ...asked,
    method,
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json", ...headers },
    idleMs: SILENCE_MS,
  });
  discard(body);
  return { challenge: readChallenge(status, header("www-authenticate")), session: header("mcp-session-id") };
}

const CLIENT_INFO = { name: "toolyard", version: VERSION };
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: LATEST_LEGACY_REVISION.date, capabilities: {}, clientInfo: CLIENT_INFO },
});
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
