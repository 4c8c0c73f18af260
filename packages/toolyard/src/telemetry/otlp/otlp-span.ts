import { firstChars } from "../../core/text/truncate.ts";
import type { Span, SpanFact, SpanKind } from "../../core/ports/tracing.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { FactNames } from "./names.ts";

/** Time as seconds and nanoseconds since 1970, as the encoder expects it. */
export type HrTime = [number, number];

/** Trace, parent and sampling of a span. */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly kind: SpanKind;
  readonly meta: JsonObject;
  /** Start on the clock of `performance.now()`. @default now */
  readonly startMs?: number;
}

/** Settings that all spans of a hub share. */
export interface SpanSettings {
  readonly names: FactNames;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  /** Receives each ended span. */
  readonly onEnd: (span: RecordedSpan) => void;
}

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 0, server: 1, client: 2 };
const OK = 0;
const ERROR = 2;
/** Maximum number of values that are set, including those that replace an earlier one. */
const MAX_ATTRIBUTES = 40;
const NONE: readonly never[] = [];

/** Offset between `performance.now()` and the time since 1970, in milliseconds. */
const ORIGIN_MS = performance.timeOrigin;

export function hrTime(atMs: number): HrTime {
  const ms = ORIGIN_MS + atMs;
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** A sampled span. Its members are those that the encoder of OpenTelemetry reads. */
export class RecordedSpan implements Span {
  readonly meta: JsonObject;
  readonly isRecording = true;
  name: string;
  readonly kind: number;
  attributes: Record<string, string | number> = {};
  status: { code: number; message?: string } = { code: OK };
  readonly parentSpanContext:
    | { readonly spanId: string; readonly traceId: string; readonly isRemote: boolean }
    | undefined;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly events = NONE;
  readonly links = NONE;
  /** Set before the span is encoded. */
  resource: unknown;
  instrumentationScope: unknown;
  /** True after a call has been recorded in this request span. */
  isDescribed = false;
  readonly #place: SpanPlace;
  readonly #settings: SpanSettings;
  readonly #startMs: number;
  #endMs = -1;
  #attributeCount = 0;

  constructor(name: string, place: SpanPlace, settings: SpanSettings) {
    this.name = name;
    this.meta = place.meta;
    this.kind = KINDS[place.kind];
    this.#place = place;
    this.#settings = settings;
    this.#startMs = place.startMs ?? performance.now();
    const { parentId, traceId } = place;
    this.parentSpanContext =
      parentId === undefined ? undefined : { spanId: parentId, traceId, isRemote: place.kind === "server" };
  }

  get isRequest(): boolean {
    return this.#place.kind === "server";
  }

  get startTime(): HrTime {
    return hrTime(this.#startMs);
  }

  get endTime(): HrTime {
    return hrTime(this.#endMs);
  }

  spanContext(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number } {
    const { traceId, spanId } = this.#place;
    return { traceId, spanId, traceFlags: 1 };
  }

  set(fact: SpanFact, value: string | number): void {
    if (this.#endMs >= 0 || this.#attributeCount >= MAX_ATTRIBUTES) return;
    this.#attributeCount += 1;
    const { names } = this.#settings;
    this.attributes[names[fact]] = typeof value === "string" && FREE_TEXTS.has(fact) ? this.#clean(value) : value;
  }

  rename(name: string): void {
    if (this.#endMs < 0) this.name = name;
  }

  end(error?: string): void {
    if (this.#endMs >= 0) return;
    if (error !== undefined) {
      this.set("errorType", error);
      this.status = { code: ERROR };
    }
    this.name = this.#clean(this.name, MAX_NAME_CHARS);
    this.#endMs = performance.now();
    this.#settings.onEnd(this);
  }

  // Secrets are removed immediately, because the known secrets may change before the span is sent.
  #clean(text: string, maxChars = MAX_VALUE_CHARS): string {
    return bounded(this.#settings.redact(text), maxChars);
  }
}

/** Facts with texts of callers or servers, which may contain secrets. */
const FREE_TEXTS: ReadonlySet<SpanFact> = new Set<SpanFact>([
  "tool",
  "prompt",
  "resource",
  "requestId",
  "source",
  "arguments",
  "result",
  "method",
]);
const MAX_NAME_CHARS = 200;
const MAX_VALUE_CHARS = 4096;

function bounded(text: string, maxChars: number): string {
  return text.length > maxChars ? `${firstChars(text, maxChars - 1)}…` : text;
}
