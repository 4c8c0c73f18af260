import { VERSION } from "../../core/version.ts";
import { writeAttribute } from "./attributes.ts";
import { ProtoWriter, varintSize } from "./proto-writer.ts";

/** Name of the code that records (`InstrumentationScope`). */
const SCOPE_NAME = "toolyard";
/** Size of a new buffer, in bytes. Later batches begin with the size of the one before. */
const FIRST_SIZE = 16_384;
/** Usual size of the length of an item, in bytes. */
const ITEM_LENGTH_SIZE = 2;
/** Maximum size of the length of a message, in bytes. */
const MAX_LENGTH_SIZE = 5;

/**
 * Encoded items of one signal. The requests of traces, metrics and logs have the same shape: field 1 contains the
 * resource and the scope. Field 2 of the scope repeats for each item.
 */
export class OtlpBatch {
  /** Encoded `Resource`, and encoded `InstrumentationScope`. */
  readonly #resource: Uint8Array;
  readonly #scope: Uint8Array;
  readonly #room: number;
  #writer: ProtoWriter;
  #count = 0;

  constructor(resource: Readonly<Record<string, string>>) {
    this.#resource = encoded((writer) => {
      const at = writer.begin(1);
      for (const pair of Object.entries(resource)) writeAttribute(writer, 1, pair);
      writer.end(at);
    });
    this.#scope = encoded((writer) => {
      const at = writer.begin(1);
      writer.text(1, SCOPE_NAME);
      writer.text(2, VERSION);
      writer.end(at);
    });
    this.#room = this.#resource.length + this.#scope.length + 2 * (MAX_LENGTH_SIZE + 1);
    this.#writer = new ProtoWriter(FIRST_SIZE, this.#room);
  }

  /** Number of items. */
  get count(): number {
    return this.#count;
  }

  /** Number of encoded bytes. */
  get size(): number {
    return this.#writer.length - this.#room;
  }

  /** Writer of the current item. */
  get writer(): ProtoWriter {
    return this.#writer;
  }

  /** Begins an item. `end` must get the returned position. */
  begin(): number {
    return this.#writer.begin(2, ITEM_LENGTH_SIZE);
  }

  end(at: number): void {
    this.#writer.end(at, ITEM_LENGTH_SIZE);
    this.#count += 1;
  }

  /** Returns the complete request and begins the next one. */
  take(): Uint8Array {
    const writer = this.#writer;
    const scopeLength = this.#scope.length + this.size;
    const resourceLength = this.#resource.length + 1 + varintSize(scopeLength) + scopeLength;
    const head = encoded((own) => {
      own.message(1, resourceLength);
      own.raw(this.#resource);
      own.message(2, scopeLength);
      own.raw(this.#scope);
    });
    const from = this.#room - head.length;
    writer.prefix(head, from);
    this.#writer = new ProtoWriter(Math.max(FIRST_SIZE, writer.length), this.#room);
    this.#count = 0;
    return writer.bytesFrom(from);
  }
}

function encoded(write: (writer: ProtoWriter) => void): Uint8Array {
  const writer = new ProtoWriter(1024);
  write(writer);
  return writer.bytesFrom(0);
}
