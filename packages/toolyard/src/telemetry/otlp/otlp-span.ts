import { firstChars } from "../../core/text/truncate.ts";
import type { Span, SpanFact, SpanKind } from "../../core/ports/tracing.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { AttributeValue } from "./attributes.ts";
import { SPAN_FACTS } from "./names.ts";

/** Trace, parent and sampling of a span. */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly kind: SpanKind;
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

const INDEXES = Object.fromEntries(SPAN_FACTS.map((fact, index) => [fact, index])) as Readonly<
  Record<SpanFact, number>
>;

/** Copied for each span, because an array that grows costs more. */
const NO_VALUES: readonly (AttributeValue | undefined)[] = SPAN_FACTS.map(() => undefined);

/** A sampled span. It only holds its values, because most of its cost would be in objects for them. */
export class RecordedSpan implements Span {
  readonly isRecording = true;
  readonly place: SpanPlace;
  /** Times on the clock of `performance.now()`. The end is negative while the span is open. */
  readonly startMs: number;
  endMs = -1;
  name: string;
  isError = false;
  /** Values in the order of `SPAN_FACTS`. */
  readonly values: (AttributeValue | undefined)[] = NO_VALUES.slice();
  /** True after a call has been recorded in this request span. */
  isDescribed = false;
  readonly #settings: SpanSettings;

  constructor(name: string, place: SpanPlace, { settings, startMs }: { settings: SpanSettings; startMs?: number }) {
    this.name = name;
    this.place = place;
    this.#settings = settings;
    this.startMs = startMs ?? performance.now();
  }

  get meta(): JsonObject {
    return this.place.meta;
  }

  get isRequest(): boolean {
    return this.place.kind === "server";
  }

  set(fact: SpanFact, value: AttributeValue): void {
    if (this.endMs >= 0) return;
    this.values[INDEXES[fact]] = typeof value === "string" && FREE_TEXTS.has(fact) ? this.#clean(value) : value;
  }

  rename(name: string): void {
    if (this.endMs < 0) this.name = name;
  }

  /** Ends the span. `endMs`: time of the end if it is earlier than now, on the clock of `performance.now()`. */
  end(error?: string, endMs = performance.now()): void {
    if (this.endMs >= 0) return;
    if (error !== undefined) {
      this.values[INDEXES.errorType] ??= error;
      this.isError = true;
    }
    this.name = bounded(this.#clean(this.name), MAX_NAME_CHARS);
    this.endMs = endMs;
    this.#settings.onEnd(this);
  }

  // Secrets are removed immediately, because the known secrets may change before the span is sent.
  #clean(text: string): string {
    const { redact, redactName } = this.#settings;
    return text.length <= MAX_REPEATED_CHARS ? redactName(text) : bounded(redact(text), MAX_VALUE_CHARS);
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
  "model",
]);
const MAX_NAME_CHARS = 200;
const MAX_VALUE_CHARS = 4096;
/** Maximum length of a text that is probably a name. */
const MAX_REPEATED_CHARS = 100;

function bounded(text: string, maxChars: number): string {
  return text.length > maxChars ? `${firstChars(text, maxChars - 1)}…` : text;
}
