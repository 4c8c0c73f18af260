import { firstChars } from "../../core/text/truncate.ts";
import type { SharedFacts, Span, SpanFact, SpanKind } from "../../core/ports/tracing.ts";
import { withMember, type JsonObject } from "../../core/json/json.ts";
import { TRACEPARENT, TRACESTATE } from "../../core/trace-context.ts";
import type { AttributeValue } from "./attributes.ts";

/** Trace, parent and sampling of a span. */
export interface SpanPlace {
  /** Context of the span: its trace id and its own id, as in the header. */
  readonly traceparent: string;
  /** Context of the parent. Absent: the span is the first one of its trace. */
  readonly parent: string | undefined;
  readonly kind: SpanKind;
  /** `_meta` with which the span was started. */
  readonly meta: JsonObject;
}

/** Settings that all spans of a hub share. */
export interface SpanSettings {
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  /** Removes secrets from a short text that repeats, such as the name of a tool. */
  readonly redactName: (text: string) => string;
  /** Receives each ended span. */
  readonly onEnd: (span: RecordedSpan) => void;
}

/** A sampled span. It only holds its values, because most of its cost would be in objects for them. */
export class RecordedSpan implements Span {
  readonly isRecording = true;
  readonly traceparent: string;
  readonly parent: string | undefined;
  readonly kind: SpanKind;
  /** Times on the clock of `performance.now()`. The end is negative while the span is open. */
  readonly startMs: number;
  endMs = -1;
  isError = false;
  /** Facts about the place of the span, and about its subject. */
  facts: SharedFacts | undefined;
  subject: SharedFacts | undefined;
  /** Facts of this span alone: names at even indexes, each followed by its value. Later values replace earlier ones. */
  readonly values: (AttributeValue | undefined)[] = [
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ];
  /** Number of used entries of `values`. */
  used = 0;
  #name: string;
  #meta: JsonObject;
  #hasContext = false;
  readonly #settings: SpanSettings;

  constructor(name: string, place: SpanPlace, { settings, startMs }: { settings: SpanSettings; startMs?: number }) {
    this.#name = name;
    this.traceparent = place.traceparent;
    this.parent = place.parent;
    this.kind = place.kind;
    this.#meta = place.meta;
    this.#settings = settings;
    this.startMs = startMs ?? performance.now();
  }

  get name(): string {
    return this.#name;
  }

  get meta(): JsonObject {
    if (this.#hasContext) return this.#meta;
    this.#meta = this.contextIn(this.#meta);
    this.#hasContext = true;
    return this.#meta;
  }

  get tracestate(): unknown {
    // A new trace has no state, although the caller may have sent one.
    return this.parent === undefined ? undefined : this.#meta[TRACESTATE];
  }

  get isDescribed(): boolean {
    return this.subject !== undefined;
  }

  contextIn(meta: JsonObject): JsonObject {
    if (meta[TRACEPARENT] === this.traceparent) return meta;
    const copy = withMember(meta, TRACEPARENT, this.traceparent);
    if (this.parent === undefined && TRACESTATE in copy) delete copy[TRACESTATE];
    return copy;
  }

  set(fact: SpanFact, value: AttributeValue): void {
    if (this.endMs >= 0) return;
    this.#put(fact, typeof value === "string" && FREE_TEXTS.has(fact) ? cleanText(value, this.#settings) : value);
  }

  describe(subject: SharedFacts): void {
    if (this.endMs < 0) this.subject = subject;
  }

  rename(name: string): void {
    if (this.endMs < 0) this.#name = name;
  }

  /** Ends the span. `endMs`: time of the end if it is earlier than now, on the clock of `performance.now()`. */
  end(error?: string, endMs = performance.now()): void {
    if (this.endMs >= 0) return;
    if (error !== undefined) {
      if (!this.#has("errorType")) this.#put("errorType", error);
      this.isError = true;
    }
    this.endMs = endMs;
    this.#settings.onEnd(this);
  }

  #has(fact: SpanFact): boolean {
    for (let index = 0; index < this.used; index += 2) if (this.values[index] === fact) return true;
    return false;
  }

  #put(fact: SpanFact, value: AttributeValue): void {
    let index = 0;
    while (index < this.used && this.values[index] !== fact) index += 2;
    this.values[index] = fact;
    this.values[index + 1] = value;
    if (index === this.used) this.used += 2;
  }
}

/** Facts with texts of callers or servers, which may contain secrets. */
export const FREE_TEXTS: ReadonlySet<SpanFact> = new Set<SpanFact>([
  "tool",
  "prompt",
  "resource",
  "requestId",
  "source",
  "arguments",
  "result",
  "method",
  "model",
]);
const MAX_NAME_CHARS = 200;
const MAX_VALUE_CHARS = 4096;
/** Maximum length of a text that is probably a name. */
const MAX_REPEATED_CHARS = 100;

type TextCleaner = Pick<SpanSettings, "redact" | "redactName">;

/** Returns the text without secrets, shortened. */
export function cleanText(text: string, { redact, redactName }: TextCleaner): string {
  return text.length <= MAX_REPEATED_CHARS ? redactName(text) : bounded(redact(text), MAX_VALUE_CHARS);
}

/** Returns the name of a span without secrets, shortened. */
export function cleanName(name: string, cleaner: TextCleaner): string {
  return bounded(cleanText(name, cleaner), MAX_NAME_CHARS);
}

function bounded(text: string, maxChars: number): string {
  return text.length > maxChars ? `${firstChars(text, maxChars - 1)}…` : text;
}
