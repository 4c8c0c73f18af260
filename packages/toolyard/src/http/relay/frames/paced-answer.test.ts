import { beforeEach, expect, test, vi } from "vitest";
import { FRAME, type OutgoingFrame } from "../../adapters/workers/frames.ts";
import { PacedAnswer } from "./paced-answer.ts";

const KIB = 1024;
let sent: OutgoingFrame[];
const onEmpty = vi.fn();
let answer: PacedAnswer;

beforeEach(() => {
  sent = [];
  onEmpty.mockReset();
  answer = new PacedAnswer({ send: (frame) => void sent.push(frame) }, 7, onEmpty);
});

const bare = (type: number, body: string | Uint8Array = ""): OutgoingFrame => ({ type, exchange: 7, head: "", body });
const types = (): number[] => sent.map(({ type }) => type);
const sizeOf = ({ body }: OutgoingFrame): number => Buffer.byteLength(body as string);

test.each([0, 1, 20_000])("sends an answer of %d bytes as one frame", (length) => {
  const whole = { ...bare(FRAME.answer, "x".repeat(length)), head: "{}" };
  answer.send(whole);
  expect(sent).toEqual([whole]);
  expect(answer.isWaiting).toBe(false);
});

test.each([
  ["text", "ü€".repeat(150 * KIB)],
  ["bytes", Buffer.from("ü€".repeat(150 * KIB))],
])("sends a large answer of %s in pieces of 64 KiB, and waits after 256 KiB", (_, body) => {
  answer.send({ ...bare(FRAME.answer, body), head: "{}" });
  expect(types()).toEqual([FRAME.begin, FRAME.piece, FRAME.piece, FRAME.piece, FRAME.piece]);
  for (let at = 1; answer.isWaiting; at += 1) answer.taken(sizeOf(sent[at]!));
  expect(types().at(-1)).toBe(FRAME.end);
  const pieces = sent.filter(({ type }) => type === FRAME.piece).map((frame) => Buffer.from(frame.body as Uint8Array));
  expect(Buffer.concat(pieces).toString()).toBe(body.toString());
  expect(Math.max(...pieces.map(({ length }) => length))).toBe(64 * KIB);
  expect(onEmpty).toHaveBeenCalledOnce();
});

test("keeps the order of pieces and the end while pieces wait", () => {
  answer.send(bare(FRAME.begin));
  for (let at = 0; at < 30; at += 1) answer.send(bare(FRAME.piece, `${at} `.padEnd(20_000, ".")));
  answer.send(bare(FRAME.end));
  expect(answer.isWaiting).toBe(true);
  for (let at = 1; answer.isWaiting; at += 1) answer.taken(sizeOf(sent[at]!));
  const numbers = sent.filter(({ type }) => type === FRAME.piece).map(({ body }) => Number.parseInt(String(body), 10));
  expect(numbers).toEqual(Array.from({ length: 30 }, (_, at) => at));
  expect(types().at(-1)).toBe(FRAME.end);
});

test("never has more than 256 KiB and one piece on the way", () => {
  let openBytes = 0;
  answer = new PacedAnswer({ send: (frame) => void (sent.push(frame), (openBytes += sizeOf(frame))) }, 7, onEmpty);
  answer.send(bare(FRAME.answer, Buffer.alloc(3 * KIB * KIB)));
  for (let at = 1; answer.isWaiting; at += 1) {
    expect(openBytes).toBeLessThanOrEqual(320 * KIB);
    openBytes -= sizeOf(sent[at]!);
    answer.taken(sizeOf(sent[at]!));
  }
});

test("sends nothing more after its caller has disconnected", () => {
  answer.send(bare(FRAME.answer, Buffer.alloc(KIB * KIB)));
  const count = sent.length;
  answer.drop();
  answer.taken(64 * KIB);
  expect(sent.length).toBe(count);
  expect(answer.isWaiting).toBe(false);
});
