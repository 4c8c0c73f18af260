import { OutboundClient } from "../../outbound/outbound-client.ts";
import { VERSION } from "../../core/version.ts";
import { BufferedSink, ChunkError, type LineSink, type SinkOptions } from "../line-sink.ts";

export interface WebhookOptions {
  readonly url: URL;
  /** Token that is sent as `Authorization: Bearer`. */
  readonly token?: string;
}

const GATHER_MS = 1000;
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 65_536;
/** Statuses after which the receiver may accept the same lines later. */
const RETRIED: ReadonlySet<number> = new Set([408, 425, 429]);

export interface WebhookParts extends SinkOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called with the number of lines that the receiver refused permanently. */
  readonly onRefused: (lines: number, status: number) => void;
}

/**
 * Posts lines as `application/x-ndjson`, collected for one second. Lines that the receiver temporarily cannot accept
 * wait in a limited queue and are sent again. Lines that it refuses (another 4xx) are dropped and reported.
 */
export function openWebhookSink({ url, token }: WebhookOptions, parts: WebhookParts): LineSink {
  const { environment, onRefused } = parts;
  const client = new OutboundClient({ userAgent: `toolyard/${VERSION}`, environment });
  const headers = {
    "content-type": "application/x-ndjson",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const post = async (chunk: Buffer): Promise<void> => {
    const body = chunk.toString("utf8");
    const status = await client
      .request({
        service: url.origin,
        url,
        method: "POST",
        headers,
        body,
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_ANSWER_BYTES,
        reach: "origin",
        follows: false,
      })
      .then(
        (answer) => answer.status,
        (error: unknown) => {
          throw new ChunkError(chunk, false, { cause: error });
        },
      );
    if (status < 300) return;
    if (status >= 500 || RETRIED.has(status))
      throw new ChunkError(chunk, false, { cause: new Error(`${url.origin} answered HTTP ${status}`) });
    onRefused(body.split("\n").length - 1, status);
  };
  const sink = new BufferedSink(post, { ...parts, gatherMs: GATHER_MS });
  return {
    write: (line) => sink.write(line),
    close: async () => {
      await sink.close();
      await client.close();
    },
  };
}
