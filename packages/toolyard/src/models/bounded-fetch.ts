import type { OutboundClient, OutboundResponse } from "../outbound/outbound-client.ts";

export interface BoundedFetchOptions {
  /** Name of the provider, for messages. */
  readonly service: string;
  readonly client: OutboundClient;
  /** Base URL of the provider; absent: the vendor's own. Other URLs in a response must be on the public internet. */
  readonly baseUrl?: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** Creates a `fetch` for the AI SDK that limits the time and the size of each answer. Rejects with a `FailError`. */
export function boundedFetch({ service, client, baseUrl, timeoutMs, maxBytes }: BoundedFetchOptions): typeof fetch {
  const home = baseUrl === undefined ? undefined : new URL(baseUrl).origin;
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { body } = init;
    if (body !== undefined && body !== null && typeof body !== "string") throw new TypeError("The body must be text.");
    const response = await client.request({
      service,
      url,
      method: init.method === "POST" ? "POST" : "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof body === "string" ? { body } : {}),
      signal: init.signal ?? undefined,
      timeoutMs,
      maxBytes,
      reach: url.origin === home ? "origin" : "public",
    });
    return toResponse(response);
  };
}

function toResponse(response: OutboundResponse): Response {
  const { status, body } = response;
  const hasBody = status !== 204 && status !== 304 && status >= 200;
  return new Response(hasBody ? new Uint8Array(body) : null, { status, headers: headersOf(response) });
}

const PASSED_ON = ["content-type", "retry-after"] as const;

function headersOf(response: { header(name: string): string | undefined }): Headers {
  return new Headers(
    PASSED_ON.flatMap((name): [string, string][] => {
      const value = response.header(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
