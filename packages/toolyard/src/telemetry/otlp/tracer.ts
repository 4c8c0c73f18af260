import type { JsonObject } from "../../core/json/json.ts";
import { withMember } from "../../core/json/json.ts";
import type { Span, SpanKind, Tracing } from "../../core/ports/tracing.ts";
import { isTraceparent, TRACEPARENT, TRACESTATE } from "../../core/trace-context.ts";
import { RecordedSpan, type SpanSettings } from "./otlp-span.ts";
import type { Sampler } from "./sampler.ts";
import { newSpanId, newTraceId, randomWord } from "./trace-ids.ts";

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

  /** Returns the open span that has this trace context. */
  find(traceparent: unknown): RecordedSpan | undefined {
    return this.#open.size === 0 ? undefined : this.#open.get(traceparent);
  }

  startRequest(name: string, meta: JsonObject): Span | undefined {
    const parent = meta[TRACEPARENT];
    if (parent === undefined || !isTraceparent(parent)) return this.#startTrace(name, "server", meta);
    const traceId = parent.slice(3, 35);
    const isSampled = hasSampledFlag(parent);
    if (this.#sampler.recordsCallers(traceId, isSampled))
      return this.#record(name, "server", { traceId, parentId: parent.slice(36, 52), meta });
    // The work inside must not be recorded either, although the caller has recorded its part.
    return isSampled ? new UnsampledSpan(withContext(meta, traceId, `${newSpanId()}-00`)) : undefined;
  }

  start(name: string, kind: SpanKind, meta: JsonObject): Span | undefined {
    const parent = meta[TRACEPARENT];
    if (parent === undefined || !isTraceparent(parent)) return this.#startTrace(name, kind, meta);
    if (!hasSampledFlag(parent)) return undefined;
    return this.#record(name, kind, { traceId: parent.slice(3, 35), parentId: parent.slice(36, 52), meta });
  }

  /** Records a span that began earlier and ends now, as a child of another span. */
  recordFrom(
    name: string,
    startMs: number,
    { place: { traceId, spanId: parentId, meta } }: RecordedSpan,
  ): RecordedSpan {
    const place = { traceId, spanId: newSpanId(), parentId, kind: "internal", meta } as const;
    return new RecordedSpan(name, place, { settings: this.#plain, startMs });
  }

  #startTrace(name: string, kind: SpanKind, meta: JsonObject): Span | undefined {
    const word = randomWord();
    if (!this.#sampler.recordsNew(word)) return undefined;
    const { [TRACESTATE]: _, ...rest } = meta;
    return this.#record(name, kind, { traceId: newTraceId(word), parentId: undefined, meta: rest });
  }

  #record(
    name: string,
    kind: SpanKind,
    { traceId, parentId, meta }: { traceId: string; parentId: string | undefined; meta: JsonObject },
  ): RecordedSpan {
    const spanId = newSpanId();
    const inner = withContext(meta, traceId, `${spanId}-01`);
    const span = new RecordedSpan(name, { traceId, spanId, parentId, kind, meta: inner }, { settings: this.#settings });
    if (this.#open.size < MAX_OPEN) this.#open.set(inner[TRACEPARENT], span);
    return span;
  }
}

/** Returns `_meta` with the context of a new trace that is not sampled, for programs that continue a call. */
export function withUnsampledContext(meta: JsonObject): JsonObject {
  return withContext(meta, newTraceId(randomWord()), `${newSpanId()}-00`);
}

/** Returns `_meta` with a trace context. `spanAndFlags`: span id and flags, as in the header. */
function withContext(meta: JsonObject, traceId: string, spanAndFlags: string): JsonObject {
  return withMember(meta, TRACEPARENT, `00-${traceId}-${spanAndFlags}`);
}

function hasSampledFlag(traceparent: string): boolean {
  // The last digit of the flags, in hexadecimal, is odd if the trace is sampled. The character codes of 1, 3, 5, 7 and
  // 9 are odd, those of b, d and f are even.
  const code = traceparent.charCodeAt(54);
  return ((code < 58 ? code : code + 1) & 1) === 1;
}

/** Span of a request that is not sampled although its caller is. It only passes this decision to the work inside. */
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
