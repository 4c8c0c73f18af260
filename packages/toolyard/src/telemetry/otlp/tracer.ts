import type { JsonObject } from "../../core/json/json.ts";
import { withMember } from "../../core/json/json.ts";
import type { RequestStart, Span, SpanKind, Tracing } from "../../core/ports/tracing.ts";
import { isTraceparent, TRACEPARENT } from "../../core/trace-context.ts";
import { RecordedSpan, type SpanSettings } from "./otlp-span.ts";
import type { Sampler } from "./sampler.ts";
import { childTraceparent, newTraceparent, randomWord, unsampledTraceparent } from "./trace-ids.ts";

/**
 * Creates the spans of a hub. The context travels in `_meta` of the call, and not in an `AsyncLocalStorage`, which
 * would make every promise of the process slower on Node 20 and 22.
 */
export class Tracer implements Tracing {
  readonly #sampler: Sampler;
  readonly #settings: SpanSettings;

  constructor(sampler: Sampler, settings: SpanSettings) {
    this.#sampler = sampler;
    this.#settings = settings;
  }

  startRequest({ name, meta, place }: RequestStart): Span | undefined {
    const parent = meta[TRACEPARENT];
    if (parent === undefined || !isTraceparent(parent)) {
      const span = this.#startTrace(name, "server", meta);
      if (span) span.facts = place;
      return span;
    }
    const isSampled = hasSampledFlag(parent);
    if (this.#sampler.recordsCallers(parent, isSampled)) {
      const span = this.#record(name, "server", { parent, meta });
      span.facts = place;
      return span;
    }
    // The work inside must not be recorded either, although the caller has recorded its part.
    return isSampled ? new UnsampledSpan(meta, unsampledTraceparent(childTraceparent(parent))) : undefined;
  }

  start(name: string, kind: SpanKind, meta: JsonObject): RecordedSpan | undefined {
    const parent = meta[TRACEPARENT];
    if (parent === undefined || !isTraceparent(parent)) return this.#startTrace(name, kind, meta);
    return hasSampledFlag(parent) ? this.#record(name, kind, { parent, meta }) : undefined;
  }

  /** Records a span that began earlier and ends now, as a child of another span. */
  recordFrom(name: string, startMs: number, { traceparent: parent, meta }: RecordedSpan): RecordedSpan {
    const place = { traceparent: childTraceparent(parent), parent, kind: "internal", meta } as const;
    return new RecordedSpan(name, place, { settings: this.#settings, startMs });
  }

  #startTrace(name: string, kind: SpanKind, meta: JsonObject): RecordedSpan | undefined {
    const word = randomWord();
    if (!this.#sampler.recordsNew(word)) return undefined;
    const place = { traceparent: newTraceparent(word), parent: undefined, kind, meta };
    return new RecordedSpan(name, place, { settings: this.#settings });
  }

  #record(
    name: string,
    kind: SpanKind,
    { parent, meta }: { readonly parent: string; readonly meta: JsonObject },
  ): RecordedSpan {
    const place = { traceparent: childTraceparent(parent), parent, kind, meta };
    return new RecordedSpan(name, place, { settings: this.#settings });
  }
}

/** Returns `_meta` with the context of a new trace that is not sampled, for programs that continue a call. */
export function withUnsampledContext(meta: JsonObject): JsonObject {
  return withMember(meta, TRACEPARENT, unsampledTraceparent(newTraceparent(randomWord())));
}

function hasSampledFlag(traceparent: string): boolean {
  // The last digit of the flags, in hexadecimal, is odd if the trace is sampled. The character codes of 1, 3, 5, 7 and
  // 9 are odd, those of b, d and f are even.
  const code = traceparent.charCodeAt(54);
  return ((code < 58 ? code : code + 1) & 1) === 1;
}

/** Span of a request that is not sampled although its caller is. It only passes this decision to the work inside. */
class UnsampledSpan implements Span {
  readonly isRecording = false;
  readonly isDescribed = true;
  readonly meta: JsonObject;
  readonly #traceparent: string;

  constructor(meta: JsonObject, traceparent: string) {
    this.#traceparent = traceparent;
    this.meta = this.contextIn(meta);
  }

  contextIn(meta: JsonObject): JsonObject {
    return withMember(meta, TRACEPARENT, this.#traceparent);
  }

  set(): void {}
  describe(): void {}
  rename(): void {}
  end(): void {}
}
