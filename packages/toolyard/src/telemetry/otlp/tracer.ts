import type { JsonObject } from "../../core/json/json.ts";
import type { Span, SpanKind, Tracing } from "../../core/ports/tracing.ts";
import { isTraceparent, TRACEPARENT, TRACESTATE } from "../../core/trace-context.ts";
import { RecordedSpan, type SpanSettings } from "./otlp-span.ts";
import type { Sampler } from "./sampler.ts";
import { newSpanId, newTraceId } from "./trace-ids.ts";

/** Maximum number of open spans that are found by their context. Further spans are recorded without being found. */
const MAX_OPEN = 10_000;

/**
 * Creates the spans of a hub. The context travels in `_meta` of the call, and not in an `AsyncLocalStorage`, which
 * would make every promise of the process slower on Node 20 and 22.
 */
export class Tracer implements Tracing {
  readonly #sampler: Sampler;
  readonly #settings: SpanSettings;
  /** Settings of spans that are never found by their context. */
  readonly #plain: SpanSettings;
  readonly #open = new Map<unknown, RecordedSpan>();

  constructor(sampler: Sampler, settings: SpanSettings) {
    this.#sampler = sampler;
    this.#plain = settings;
    this.#settings = {
      ...settings,
      onEnd: (span) => {
        this.#open.delete(span.meta[TRACEPARENT]);
        settings.onEnd(span);
      },
    };
  }

  /** Number of open sampled spans. If it is 0, calls do not look up a span. */
  get openSpans(): number {
    return this.#open.size;
  }

  /** Returns the open span whose context a call has. */
  find(meta: JsonObject): RecordedSpan | undefined {
    return this.#open.size === 0 ? undefined : this.#open.get(meta[TRACEPARENT]);
  }

  start(name: string, kind: SpanKind, meta: JsonObject): Span {
    const parent = meta[TRACEPARENT];
    if (!isTraceparent(parent)) return this.#startTrace(name, kind, meta);
    const traceId = parent.slice(3, 35);
    const isSampled = (Number.parseInt(parent.slice(53, 55), 16) & 1) === 1;
    // A span inside the hub uses the decision that was made for its request.
    const isRecorded = kind === "server" ? this.#sampler(traceId, isSampled) : isSampled;
    if (!isRecorded) return new UnsampledSpan(isSampled ? withContext(meta, traceId, `${newSpanId()}-00`) : meta);
    return this.#record(name, kind, { traceId, parentId: parent.slice(36, 52), meta });
  }

  /** Records a span that began earlier and ends now, inside the span of `meta`. */
  recordFrom(name: string, startMs: number, parent: RecordedSpan): RecordedSpan {
    const { traceId, spanId: parentId } = parent.spanContext();
    const place = { traceId, spanId: newSpanId(), parentId, kind: "internal", meta: parent.meta, startMs } as const;
    return new RecordedSpan(name, place, this.#plain);
  }

  #startTrace(name: string, kind: SpanKind, meta: JsonObject): Span {
    const traceId = newTraceId();
    if (!this.#sampler(traceId, undefined)) return new UnsampledSpan(withContext(meta, traceId, `${newSpanId()}-00`));
    const { [TRACESTATE]: _, ...rest } = meta;
    return this.#record(name, kind, { traceId, parentId: undefined, meta: rest });
  }

  #record(
    name: string,
    kind: SpanKind,
    { traceId, parentId, meta }: { traceId: string; parentId: string | undefined; meta: JsonObject },
  ): RecordedSpan {
    const spanId = newSpanId();
    const inner = withContext(meta, traceId, `${spanId}-01`);
    const span = new RecordedSpan(name, { traceId, spanId, parentId, kind, meta: inner }, this.#settings);
    if (this.#open.size < MAX_OPEN) this.#open.set(inner[TRACEPARENT], span);
    return span;
  }
}

/** `spanAndFlags`: span id and flags, as in the header. */
function withContext(meta: JsonObject, traceId: string, spanAndFlags: string): JsonObject {
  return { ...meta, [TRACEPARENT]: `00-${traceId}-${spanAndFlags}` };
}

/** Span of a trace that is not sampled. It only passes this decision to the work inside. */
class UnsampledSpan implements Span {
  readonly meta: JsonObject;
  readonly isRecording = false;

  constructor(meta: JsonObject) {
    this.meta = meta;
  }

  set(): void {}
  rename(): void {}
  end(): void {}
}

/** Returns true if the context in `_meta` belongs to a trace that is not sampled. */
export function isUnsampled(meta: JsonObject): boolean {
  const context = meta[TRACEPARENT];
  return typeof context === "string" && context.length === 55 && context.endsWith("-00");
}
