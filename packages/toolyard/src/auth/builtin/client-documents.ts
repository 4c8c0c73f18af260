import type { OutboundClient } from "../../outbound/outbound-client.ts";
import { normaliseClient, objectOf } from "./redirects.ts";

const TIMEOUT_MS = 5000;
/** Maximum size of a client ID metadata document. */
const MAX_BYTES = 16 * 1024;
/** Maximum number of documents that are read concurrently. */
const MAX_AT_ONCE = 8;

/** The part of `Response` that `oidc-provider` reads. */
type FetchDocument = (url: string | URL) => Promise<Response>;

/**
 * Creates the function that reads client ID metadata documents: from public addresses, by https only, without
 * redirects, limited in size, time and number. With `reach` "origin", local addresses are permitted too; only tests use
 * that.
 */
export function createDocumentFetch(client: OutboundClient, reach: "public" | "origin" = "public"): FetchDocument {
  let running = 0;
  return async (url) => {
    if (running >= MAX_AT_ONCE) throw new Error("Too many client documents are read at the same time.");
    running += 1;
    try {
      const answer = await client.request({
        service: "A client ID metadata document",
        url: new URL(url),
        headers: { accept: "application/json" },
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        reach,
        follows: false,
      });
      const document = answer.status === 200 ? objectOf(answer.body) : undefined;
      const headers = { "cache-control": answer.header("cache-control") ?? "" };
      if (!document) return new Response("{}", { status: answer.status === 200 ? 502 : answer.status, headers });
      return new Response(JSON.stringify(normaliseClient(document)), { status: 200, headers });
    } finally {
      running -= 1;
    }
  };
}
