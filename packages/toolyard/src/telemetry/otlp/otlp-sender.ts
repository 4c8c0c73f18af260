import { gzip } from "node:zlib";
import { promisify } from "node:util";
import { VERSION } from "../../core/version.ts";
import { OutboundClient } from "../../outbound/outbound-client.ts";
import type { SignalTarget } from "./options.ts";
import { readRejection } from "./rejection.ts";

/** Answer of a collector to one batch. */
export interface ExportResult {
  readonly isAccepted: boolean;
  /** True if the same batch may be accepted later (OTLP, "Retryable Response Codes"). */
  readonly mayRetry: boolean;
  readonly retryAfterMs: number;
  /** Number of items that the collector refused although it accepted the batch. */
  readonly rejected: number;
  readonly reason: string;
}

const MAX_ANSWER_BYTES = 65_536;
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Compresses in another thread, so that no call waits for it. */
const compress = promisify(gzip);

/** Posts encoded requests by OTLP/HTTP with binary protobuf. */
export class OtlpSender {
  readonly #client: OutboundClient;
  readonly #target: SignalTarget;

  constructor(target: SignalTarget, environment: Readonly<Record<string, string | undefined>>) {
    this.#target = target;
    const { certificate, url } = target;
    this.#client = new OutboundClient({
      origin: url.origin,
      userAgent: `toolyard/${VERSION}`,
      environment,
      ...(certificate !== undefined && { caFiles: [certificate] }),
    });
  }

  async post(bytes: Uint8Array, signal: AbortSignal): Promise<ExportResult> {
    const { url, headers, timeoutMs, isCompressed } = this.#target;
    const answer = await this.#client.request({
      service: "the OTLP collector",
      url,
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/x-protobuf",
        ...(isCompressed && { "content-encoding": "gzip" }),
      },
      body: isCompressed ? await compress(bytes, { level: 1 }) : bytes,
      signal,
      timeoutMs,
      maxBytes: MAX_ANSWER_BYTES,
      reach: "origin",
      follows: false,
    });
    const { status } = answer;
    if (status >= 200 && status < 300) {
      const { count, reason } = readRejection(answer.body);
      return { isAccepted: true, mayRetry: false, retryAfterMs: 0, rejected: count, reason };
    }
    const retryAfterMs = Number(answer.header("retry-after") ?? 0) * 1000;
    return {
      isAccepted: false,
      mayRetry: RETRYABLE.has(status),
      retryAfterMs: Number.isFinite(retryAfterMs) ? retryAfterMs : 0,
      rejected: 0,
      reason: `the collector answered HTTP ${status}`,
    };
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
