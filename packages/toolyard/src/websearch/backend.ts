import type { OutboundClient, OutboundRequest, OutboundResponse } from "../outbound/outbound-client.ts";
import type { WebSearchOptions } from "./options.ts";
import type { WebHit } from "./web-hit.ts";

/** Adapter for a search service: creates its requests and reads its responses. */
export interface Backend {
  /** Name for messages. */
  readonly name: string;
  /** Returns the service-specific part of a request. */
  request(query: string, count: number, options: WebSearchOptions): BackendRequest;
  /**
   * Returns hits in the service's order; an empty list only if the service reports that there are none. Rejects with a
   * `FailError`.
   */
  read(response: OutboundResponse): Promise<readonly WebHit[]>;
}

export type BackendRequest = Pick<OutboundRequest, "url" | "method" | "headers" | "body">;

/** One search: the query, the maximum number of hits, and the signal. */
export interface BackendQuery {
  readonly query: string;
  readonly count: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request to a service. Rejects with a `FailError`. */
export async function askBackend(
  backend: Backend,
  { query, count, signal }: BackendQuery,
  { client, options }: { readonly client: OutboundClient; readonly options: WebSearchOptions },
): Promise<readonly WebHit[]> {
  const response = await client.request({
    service: backend.name,
    ...backend.request(query, count, options),
    signal,
    timeoutMs: options.timeoutMs,
    maxBytes: options.maxBodyBytes,
    reach: "origin",
  });
  return backend.read(response);
}
