import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { EventStream } from "../event-stream.ts";
import { Channel } from "./channel.ts";
import { FRAME, FrameDecoder } from "./frames.ts";
import { RemoteResponse } from "./remote-exchange.ts";

const LIMITS = { streamKeepAliveMs: 60_000, maxStreamBacklogBytes: 1000, streamStallMs: 60_000 };

function start(): {
  response: RemoteResponse;
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
  return { response: new RemoteResponse(channel, 1, over), sent, over };
}

test("an answer that is whole is one frame, and is over", async () => {
  const { response, sent, over } = start();
  response.setHeader("Mcp-Session-Id", "s").writeHead(201, { "content-type": "text/plain" }).end("hi");
  await once(response, "close");
  expect(await sent()).toEqual([
    {
      type: FRAME.answer,
      head: '{"status":201,"headers":{"mcp-session-id":"s","content-type":"text/plain"}}',
      body: "hi",
    },
  ]);
  expect(over).toHaveBeenCalledOnce();
});

test("a stream of a reader that takes nothing is cut at its bound; of one that takes, it goes on", async () => {
  const { response, sent } = start();
  const stream = new EventStream(response.asServerResponse, LIMITS);
  for (let turn = 0; turn < 50; turn += 1) {
    stream.send("x".repeat(500));
    response.taken(response.writableLength);
  }
  expect(stream.isOpen).toBe(true);
  for (let turn = 0; turn < 4; turn += 1) stream.send("x".repeat(500));
  expect(stream.isOpen).toBe(false);
  expect((await sent()).at(-1)).toMatchObject({ type: FRAME.cut });
});

test("who has gone is told of once, and gets nothing more", async () => {
  const { response, sent, over } = start();
  const closed = vi.fn();
  response.on("close", closed);
  response.gone();
  response.gone();
  await once(response, "close");
  response.end("late");
  response.destroy();
  expect(response.destroyed).toBe(true);
  expect(await sent()).toEqual([]);
  expect([closed.mock.calls.length, over.mock.calls.length]).toEqual([1, 1]);
});
