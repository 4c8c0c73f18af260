import { expect, test } from "vitest";
import { encodeFrame, FrameError, FrameReader } from "./frames.ts";

test("reads whole frames, however the pipe splits them", () => {
  const bytes = Buffer.concat([
    encodeFrame({ a: "é" }, [Uint8Array.of(1, 2), Uint8Array.of(3)]),
    encodeFrame({}),
    encodeFrame({ b: null }, [new Uint8Array(0)]),
  ]);
  for (const size of [1, 3, 7, 1000]) {
    const reader = new FrameReader(1000);
    const frames = [];
    for (let at = 0; at < bytes.length; at += size) frames.push(...reader.push(bytes.subarray(at, at + size)));
    expect(frames.map(({ head, body }) => [head, Array.from(body)])).toEqual([
      [{ a: "é" }, [1, 2, 3]],
      [{}, []],
      [{ b: null }, []],
    ]);
  }
});

test("rejects a length above the limit and a head that is not JSON, but returns the frames before it", () => {
  const reader = new FrameReader(100);
  const [huge, junk] = [Buffer.alloc(8, 255), Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 123])];
  const seen: unknown[] = [];
  const read = (bytes: Buffer): void => {
    for (const { head } of reader.push(bytes)) seen.push(head);
  };
  expect(() => read(Buffer.concat([encodeFrame({ first: 1 }), huge]))).toThrow(FrameError);
  expect(seen).toEqual([{ first: 1 }]);
  expect(() => Array.from(new FrameReader(100).push(junk))).toThrow("not JSON");
  expect(() => Array.from(new FrameReader(100).push(encodeFrame({ a: "x".repeat(100) })))).toThrow("at most 100");
});
