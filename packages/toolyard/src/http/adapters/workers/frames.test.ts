import { expect, test } from "vitest";
import { createRandom } from "../../../../../../test/support/random.ts";
import { encodeFrames, FRAME, FrameDecoder, type OutgoingFrame } from "./frames.ts";

const FRAMES: readonly OutgoingFrame[] = [
  { type: FRAME.ready, exchange: 0, head: "", body: "" },
  { type: FRAME.request, exchange: 7, head: '{"path":"/é"}', body: Buffer.from([0, 255, 10, 13]) },
  { type: FRAME.answer, exchange: 4_294_967_295, head: "{}", body: "ünïcode ✓ 🎈" },
  { type: FRAME.piece, exchange: 7, head: "", body: "x".repeat(300_000) },
  { type: FRAME.end, exchange: 7, head: "", body: "" },
];

function decoded(chunks: readonly Buffer[]): unknown[] {
  const decoder = new FrameDecoder();
  return chunks.flatMap((chunk) =>
    Array.from(decoder.decode(chunk), ({ body, ...frame }) => ({ ...frame, body: body.toString("hex") })),
  );
}

const EXPECTED = FRAMES.map(({ body, ...frame }) => ({ ...frame, body: Buffer.from(body as string).toString("hex") }));

test("decodes frames as they were encoded, for any split of the bytes", () => {
  const bytes = encodeFrames(FRAMES);
  const random = createRandom(5);
  expect(decoded([bytes])).toEqual(EXPECTED);
  for (const bound of [3, 40, 70_000]) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + random.below(bound);
      chunks.push(bytes.subarray(at, end));
      at = end;
    }
    expect(decoded(chunks)).toEqual(EXPECTED);
  }
});

test("decodes nothing from an incomplete frame", () => {
  expect(decoded([encodeFrames(FRAMES.slice(1, 2)).subarray(0, -1)])).toEqual([]);
});
