import type { SpanKind } from "../../core/ports/tracing.ts";
import { TRACESTATE } from "../../core/trace-context.ts";
import { writeValue } from "./attributes.ts";
import { SPAN_FACTS, type FactNames } from "./names.ts";
import type { RecordedSpan } from "./otlp-span.ts";
import { ProtoWriter } from "./proto-writer.ts";

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const ERROR = 2;
const SAMPLED = 1;
/** Fact that is a text on the wire, although most ids are numbers. */
const REQUEST_ID = SPAN_FACTS.indexOf("requestId");
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** Writes spans as messages `Span` of OTLP. Names of attributes are encoded once. */
export class SpanWriter {
  readonly #names: readonly Uint8Array[];
  /** Time at which `performance.now()` was 0, in milliseconds since 1970. */
  #originMs = 0;

  constructor(names: FactNames) {
    this.#names = SPAN_FACTS.map((fact) => {
      const writer = new ProtoWriter(256);
      writer.text(1, names[fact]);
      return writer.bytesFrom(0);
    });
    this.setClock();
  }

  /** Reads the clock again. The origin moves, because the clocks differ after a sleep or a correction of the time. */
  setClock(originMs = Date.now() - performance.now()): void {
    this.#originMs = originMs;
  }

  write(writer: ProtoWriter, span: RecordedSpan): void {
    const { traceId, spanId, parentId, kind, meta } = span.place;
    const tracestate = meta[TRACESTATE];
    writer.hex(1, traceId);
    writer.hex(2, spanId);
    if (typeof tracestate === "string") writer.text(3, tracestate);
    if (parentId !== undefined) writer.hex(4, parentId);
    writer.text(5, span.name);
    writer.integer(6, KINDS[kind]);
    writer.time(7, this.#originMs + span.startMs);
    writer.time(8, this.#originMs + span.endMs);
    this.#writeValues(writer, span.values);
    if (span.isError) {
      const at = writer.begin(15);
      writer.integer(3, ERROR);
      writer.end(at);
    }
    writer.fixed32(16, SAMPLED | HAS_IS_REMOTE | (kind === "server" && parentId !== undefined ? IS_REMOTE : 0));
  }

  #writeValues(writer: ProtoWriter, values: RecordedSpan["values"]): void {
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index];
      if (value === undefined) continue;
      const at = writer.begin(9);
      writer.raw(this.#names[index]!);
      writeValue(writer, 2, index === REQUEST_ID ? String(value) : value);
      writer.end(at);
    }
  }
}
