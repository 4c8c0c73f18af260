import type { SharedFacts, SpanFact, SpanKind } from "../../core/ports/tracing.ts";
import { writeValue, type AttributeValue } from "./attributes.ts";
import type { FactNames } from "./names.ts";
import { cleanName, cleanText, FREE_TEXTS, type RecordedSpan } from "./otlp-span.ts";
import { ProtoWriter, type CharRange } from "./proto-writer.ts";

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const ERROR = 2;
const SAMPLED = 1;
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;
/** Positions of the ids in a `traceparent`. */
const TRACE_ID: CharRange = { start: 3, end: 35 };
const SPAN_ID: CharRange = { start: 36, end: 52 };

export interface SpanWriterParts {
  readonly names: FactNames;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
  /** Removes secrets from a short text that repeats, such as the name of a tool. */
  readonly redactName: (text: string) => string;
  /** Number that changes when the known secrets change. */
  readonly secretsVersion: () => number;
}

/** Facts in the form in which messages contain them. */
interface EncodedFacts {
  /** Field of the name. Absent: the facts have no name. */
  readonly name: Uint8Array | undefined;
  readonly attributes: Uint8Array;
}

/** Writes spans as messages `Span` of OTLP. Names of attributes and shared facts are encoded once. */
export class SpanWriter {
  readonly #parts: SpanWriterParts;
  readonly #names: Readonly<Record<SpanFact, Uint8Array>>;
  #shared = new WeakMap<SharedFacts, EncodedFacts>();
  #secretsVersion = 0;
  /** Time at which `performance.now()` was 0, in milliseconds since 1970. */
  #originMs = 0;

  constructor(parts: SpanWriterParts) {
    this.#parts = parts;
    this.#names = Object.fromEntries(
      Object.entries(parts.names).map(([fact, name]) => [fact, encoded((writer) => writer.text(1, name))]),
    ) as Record<SpanFact, Uint8Array>;
    this.setClock();
  }

  /** Reads the clock again. The origin moves, because the clocks differ after a sleep or a correction of the time. */
  setClock(originMs = Date.now() - performance.now()): void {
    this.#originMs = originMs;
  }

  write(writer: ProtoWriter, span: RecordedSpan): void {
    const { traceparent, parent, kind, tracestate, facts, subject } = span;
    const described = subject && this.#encoded(subject);
    writer.hex(1, traceparent, TRACE_ID);
    writer.hex(2, traceparent, SPAN_ID);
    if (typeof tracestate === "string") writer.text(3, tracestate);
    if (parent !== undefined) writer.hex(4, parent, SPAN_ID);
    if (described?.name) writer.raw(described.name);
    else writer.text(5, cleanName(span.name, this.#parts));
    writer.integer(6, KINDS[kind]);
    writer.time(7, this.#originMs + span.startMs);
    writer.time(8, this.#originMs + span.endMs);
    if (facts) writer.raw(this.#encoded(facts).attributes);
    if (described) writer.raw(described.attributes);
    for (let index = 0; index < span.used; index += 2)
      this.#writeFact(writer, span.values[index] as SpanFact, span.values[index + 1]!);
    if (span.isError) {
      const at = writer.begin(15);
      writer.integer(3, ERROR);
      writer.end(at);
    }
    writer.fixed32(16, SAMPLED | HAS_IS_REMOTE | (kind === "server" && parent !== undefined ? IS_REMOTE : 0));
  }

  /** Returns the encoded facts, without secrets. They are encoded again after a change of the secrets. */
  #encoded(facts: SharedFacts): EncodedFacts {
    const version = this.#parts.secretsVersion();
    if (version !== this.#secretsVersion) {
      this.#shared = new WeakMap();
      this.#secretsVersion = version;
    }
    let known = this.#shared.get(facts);
    if (!known) this.#shared.set(facts, (known = this.#encode(facts)));
    return known;
  }

  #encode({ name, values }: SharedFacts): EncodedFacts {
    return {
      name: name === undefined ? undefined : encoded((writer) => writer.text(5, cleanName(name, this.#parts))),
      attributes: encoded((writer) => {
        for (const [fact, value] of Object.entries(values) as [SpanFact, AttributeValue][])
          this.#writeFact(writer, fact, this.#clean(fact, value));
      }),
    };
  }

  #clean(fact: SpanFact, value: AttributeValue): AttributeValue {
    return typeof value === "string" && FREE_TEXTS.has(fact) ? cleanText(value, this.#parts) : value;
  }

  #writeFact(writer: ProtoWriter, fact: SpanFact, value: AttributeValue): void {
    const at = writer.begin(9);
    writer.raw(this.#names[fact]);
    // The id of a request is a text on the wire, although most ids are numbers.
    writeValue(writer, 2, fact === "requestId" ? String(value) : value);
    writer.end(at);
  }
}

function encoded(write: (writer: ProtoWriter) => void): Uint8Array {
  const writer = new ProtoWriter(256);
  write(writer);
  return writer.bytesFrom(0);
}
