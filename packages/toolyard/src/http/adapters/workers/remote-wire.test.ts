import { PassThrough } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { HttpAnswer } from "../../answer/answer.ts";
import { EventStream } from "../../answer/event-stream.ts";
import { Channel } from "./channel.ts";
import { FRAME, FrameDecoder } from "./frames.ts";
import { RemoteAnswerWire } from "./remote-wire.ts";

const LIMITS = { streamKeepAliveMs: 60_000, maxStreamBacklogBytes: 1000, streamStallMs: 60_000 };

/** Answers of the running test. An answer that is not closed delays the answers of later tests. */
const answers: HttpAnswer[] = [];
afterEach(() => {
  for (const answer of answers.splice(0)) answer.closed();
});

function start(): {
  wire: RemoteAnswerWire;
  answer: HttpAnswer;
  sent: () => Promise<{ type: number; head: string; body: string }[]>;
  over: ReturnType<typeof vi.fn>;
} {
  const pipe = new PassThrough();
  const channel = new Channel(pipe, () => {});
  const frames: { type: number; head: string; body: string }[] = [];
  const decoder = new FrameDecoder();
  pipe.on("data", (chunk: Buffer) => {
    for (const { type, head, body } of decoder.decode(chunk)) frames.push({ type, head, body: body.toString() });
  });
  const over = vi.fn();
  const sent = async (): Promise<typeof frames> => {
    await new Promise((resolve) => channel.flush(() => void setImmediate(resolve)));
    return frames;
  };
  const wire = new RemoteAnswerWire(channel, 1, over);
  const answer = new HttpAnswer(wire);
  answers.push(answer);
  return { wire, answer, sent, over };
}

test("a complete answer is one frame, and ends the answer", async () => {
  const { answer, sent, over } = start();
  const closed = new Promise<void>((resolve) => answer.onClosed(resolve));
  answer.setHeader("Mcp-Session-Id", "s").send(201, ["content-type", "text/plain"], "hi");
  await closed;
  expect(await sent()).toEqual([
    {
      type: FRAME.answer,
      head: '{"status":201,"headers":{"mcp-session-id":"s","content-type":"text/plain","content-length":"2"}}',
      body: "hi",
    },
  ]);
  expect(over).toHaveBeenCalledOnce();
});

test("closes a stream at its limit if its reader reads nothing, and continues it if it reads", async () => {
  const { wire, answer, sent } = start();
  const stream = new EventStream(answer, LIMITS);
  for (let turn = 0; turn < 50; turn += 1) {
    stream.send("x".repeat(500));
    wire.taken(wire.waitingBytes);
  }
  expect(stream.isOpen).toBe(true);
  for (let turn = 0; turn < 4; turn += 1) stream.send("x".repeat(500));
  expect(stream.isOpen).toBe(false);
  expect((await sent()).at(-1)).toMatchObject({ type: FRAME.cut });
});

test("reports a piece as read when the reports of the client include all of its bytes", () => {
  const { wire } = start();
  const taken: string[] = [];
  wire.write("12345", () => taken.push("first"));
  wire.write("without a listener");
  wire.write(Buffer.from("é"), () => taken.push("second"));
  wire.write("é", () => taken.push("third"));
  const steps: [bytes: number, expected: readonly string[]][] = [
    [0, []],
    [4, []],
    [1, ["first"]],
    [0, ["first"]],
    [18, ["first"]],
    [1, ["first"]],
    [3, ["first", "second", "third"]],
  ];
  for (const [bytes, expected] of steps) {
    wire.taken(bytes);
    expect(taken).toEqual(expected);
  }
  expect(wire.waitingBytes).toBe(0);
});

test.each([1, 7, 64, 1000])("reports each of many pieces once, in order, with reports of %i bytes", (step) => {
  const { wire } = start();
  const taken: number[] = [];
  for (let at = 0; at < 20; at += 1) wire.write("x".repeat(at * 5), () => taken.push(at));
  while (wire.waitingBytes > 0) wire.taken(Math.min(step, wire.waitingBytes));
  expect(taken).toEqual(Array.from({ length: 20 }, (_, at) => at));
});

test("reports no piece as read after the disconnection of the client", async () => {
  const { wire, answer } = start();
  const closed = new Promise<void>((resolve) => answer.onClosed(resolve));
  const taken = vi.fn();
  wire.write("abc", taken);
  wire.gone();
  await closed;
  wire.taken(3);
  expect(taken).not.toHaveBeenCalled();
});

test("reports the disconnection of a client once, and sends nothing afterwards", async () => {
  const { wire, answer, sent, over } = start();
  const closed = vi.fn();
  const isClosed = new Promise<void>((resolve) => answer.onClosed(resolve));
  answer.onClosed(closed);
  wire.gone();
  wire.gone();
  await isClosed;
  answer.send(200, [], "late");
  answer.cut();
  expect([answer.isGone, answer.signal.aborted]).toEqual([true, true]);
  expect(await sent()).toEqual([]);
  expect([closed.mock.calls.length, over.mock.calls.length]).toEqual([1, 1]);
});
