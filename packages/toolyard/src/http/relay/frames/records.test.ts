import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../../test/support/random.ts";
import { FrameDecoder, type OutgoingFrame } from "../../adapters/workers/frames.ts";
import { MAX_RECORD_BYTES, RecordError, RecordReader, RecordWriter } from "./records.ts";

const KEY = Buffer.alloc(32, 1);

const frame = (exchange: number, body: string): OutgoingFrame => ({ type: 23, exchange, head: '{"a":"é"}', body });

function readAll(reader: RecordReader, chunks: readonly Buffer[]): string[] {
  const bodies: string[] = [];
  for (const chunk of chunks)
    for (const record of reader.read(Buffer.from(chunk)))
      for (const { exchange, body } of new FrameDecoder().decode(record)) bodies.push(`${exchange} ${body.toString()}`);
  return bodies;
}

test.each([1, 2, 3, 4, 5, 6])("reads the written frames, however the bytes arrive (seed %d)", (seed) => {
  const random = createRandom(seed);
  const writer = new RecordWriter(KEY);
  const expected: string[] = [];
  const records = Array.from({ length: 30 }, () =>
    writer.write(
      Array.from({ length: 1 + random.below(5) }, () => {
        const sent = frame(random.below(2 ** 32), "ü".repeat(random.below(3000)));
        expected.push(`${sent.exchange} ${sent.body as string}`);
        return sent;
      }),
    ),
  );
  const bytes = Buffer.concat(records);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(random.pick([5, 8000]));
    chunks.push(bytes.subarray(at, end));
    at = end;
  }
  expect(readAll(new RecordReader(KEY), chunks)).toEqual(expected);
});

describe("refuses", () => {
  const writer = new RecordWriter(KEY);
  const [first, second, third] = [1, 2, 3].map((at) => writer.write([frame(at, "body")])) as [Buffer, Buffer, Buffer];

  test.each([
    ["a record that arrives a second time", [first, first]],
    ["a record after one that is missing", [first, third]],
    ["two records in another order", [second, first]],
  ])("%s", (_, records) => {
    expect(() => readAll(new RecordReader(KEY), records)).toThrow(RecordError);
  });

  test("a first record above its limit, as soon as its length is known", () => {
    const reader = new RecordReader(KEY, first.length - 1);
    expect(() => readAll(reader, [first.subarray(0, 20)])).toThrow(RecordError);
  });

  test("no later record because of the limit of the first one", () => {
    const sender = new RecordWriter(KEY);
    const records = ["", "x".repeat(5000)].map((body) => sender.write([frame(1, body)]));
    expect(readAll(new RecordReader(KEY, records[0]!.length), records)).toHaveLength(2);
  });

  test("a record with another key", () => {
    expect(() => readAll(new RecordReader(Buffer.alloc(32, 2)), [first])).toThrow(RecordError);
  });

  test("a record with one changed byte, at every place after its length", () => {
    for (let at = 4; at < first.length; at += 1) {
      const changed = Buffer.from(first);
      changed[at]! ^= 1;
      expect(() => readAll(new RecordReader(KEY), [changed]), `byte ${at}`).toThrow(RecordError);
    }
  });

  test.each([0, 15, MAX_RECORD_BYTES + 1, 2 ** 32 - 1])("a record whose length is %d", (length) => {
    const changed = Buffer.alloc(40);
    changed.writeUInt32LE(length, 0);
    expect(() => readAll(new RecordReader(KEY), [changed])).toThrow(RecordError);
  });
});
