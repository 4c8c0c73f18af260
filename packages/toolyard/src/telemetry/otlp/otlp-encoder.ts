import type * as Transformer from "@opentelemetry/otlp-transformer";
import type { ISerializer } from "@opentelemetry/otlp-transformer";
import { VERSION } from "../../core/version.ts";
import type { RecordedSpan } from "./otlp-span.ts";

/** The official encoder. */
export type OtlpTransformer = typeof Transformer;

/** Resource of all signals, in the form that the encoder reads. */
interface EncoderResource {
  readonly attributes: Readonly<Record<string, string>>;
}

/** Name and version of the code that records. */
export const SCOPE = Object.freeze({ name: "toolyard", version: VERSION });

/** Answer of a collector that accepted a request but refused some of its items. */
interface PartialAnswer {
  readonly partialSuccess?: {
    readonly rejectedSpans?: number;
    readonly rejectedLogRecords?: number;
    readonly rejectedDataPoints?: number;
    readonly errorMessage?: string;
  };
}

/** Log record in the form that the encoder reads. */
export interface OtlpLogRecord {
  readonly hrTime: [number, number];
  readonly hrTimeObserved: [number, number];
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly droppedAttributesCount: 0;
}

/** Encodes telemetry as protobuf with the official package. */
export class OtlpEncoder {
  readonly #transformer: OtlpTransformer;
  readonly #resource: EncoderResource;

  constructor(transformer: OtlpTransformer, attributes: Readonly<Record<string, string>>) {
    this.#transformer = transformer;
    this.#resource = { attributes };
  }

  spans(spans: readonly RecordedSpan[]): Uint8Array {
    for (const span of spans) {
      span.resource = this.#resource;
      span.instrumentationScope = SCOPE;
    }
    // The spans have the members that the encoder reads, but not the classes of the SDK.
    return this.#transformer.ProtobufTraceSerializer.serializeRequest(spans as never) ?? NOTHING;
  }

  logs(records: readonly OtlpLogRecord[]): Uint8Array {
    const complete = records.map((one) => ({ ...one, resource: this.#resource, instrumentationScope: SCOPE }));
    return this.#transformer.ProtobufLogsSerializer.serializeRequest(complete as never) ?? NOTHING;
  }

  metrics(metrics: readonly unknown[]): Uint8Array {
    const request = { resource: this.#resource, scopeMetrics: [{ scope: SCOPE, metrics }] };
    return this.#transformer.ProtobufMetricsSerializer.serializeRequest(request as never) ?? NOTHING;
  }

  /** Returns the number of items that a collector refused in an accepted request. */
  rejected(
    signal: "traces" | "logs" | "metrics",
    answer: Uint8Array,
  ): { readonly count: number; readonly reason: string } {
    const { ProtobufTraceSerializer, ProtobufLogsSerializer, ProtobufMetricsSerializer } = this.#transformer;
    const readers: Readonly<Record<typeof signal, ISerializer<never, PartialAnswer>>> = {
      traces: ProtobufTraceSerializer as never,
      logs: ProtobufLogsSerializer as never,
      metrics: ProtobufMetricsSerializer as never,
    };
    try {
      const { partialSuccess = {} } = answer.length === 0 ? {} : readers[signal].deserializeResponse(answer);
      const { rejectedSpans, rejectedLogRecords, rejectedDataPoints, errorMessage = "" } = partialSuccess;
      return { count: Number(rejectedSpans ?? rejectedLogRecords ?? rejectedDataPoints ?? 0), reason: errorMessage };
    } catch {
      // Some collectors answer with JSON or text. The status alone then counts.
      return { count: 0, reason: "" };
    }
  }
}

const NOTHING = new Uint8Array();
