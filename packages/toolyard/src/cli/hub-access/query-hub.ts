import { parseExact } from "../../core/json/exact-json.ts";
import { FailError } from "../../core/errors.ts";
import { VERSION } from "../../core/version.ts";
import type { Io } from "../output/io.ts";

/** Maximum size of a response, far above the status or the hits of any hub. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface HubQuestion {
  readonly url: URL;
  readonly token: string | undefined;
  readonly timeoutMs: number;
  /** Method of the request. @default "GET" */
  readonly method?: "GET" | "POST" | "DELETE";
  /** Headers besides the token, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Body: JSON text. */
  readonly body?: string;
}

/** The response of a hub: its JSON, or `undefined` if the body is not JSON. */
export interface HubAnswer {
  readonly status: number;
  readonly json: unknown;
}

/**
 * Sends a request outside MCP to a running hub, through the configured proxies. Rejects with the network's error, or
 * with a `FailError` for a response that is too large.
 */
export async function askHub(
  { url, token, timeoutMs, method, headers, body: sent }: HubQuestion,
  io: Io,
): Promise<HubAnswer> {
  const { OutboundClient } = await import("../../outbound/outbound-client.ts");
  const client = new OutboundClient({ userAgent: `toolyard/${VERSION}`, environment: io.env });
  try {
    const { status, body } = await client.request({
      service: url.origin,
      url,
      ...(method && { method }),
      ...(sent !== undefined && { body: sent }),
      headers: {
        ...(sent !== undefined && { "content-type": "application/json" }),
        ...headers,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      signal: io.interrupted,
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      reach: "origin",
      follows: false,
    });
    return { status, json: parsed(body.toString("utf8")) };
  } catch (error) {
    throw error instanceof FailError && error.cause instanceof Error ? error.cause : error;
  } finally {
    await client.close();
  }
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
