// Two hubs that pass requests through a store, and another user of the store that may publish messages.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeFrames, FRAME, FrameDecoder, type OutgoingFrame } from "../adapters/workers/frames.ts";
import { HttpAnswer } from "../answer/answer.ts";
import type { HttpExchange } from "../exchange.ts";
import type { Delivery, Peers } from "../../state/ports/peers.ts";
import type { AnswerWire } from "../wire.ts";
import { RELAY_HEADER, RELAYED } from "./relayed-headers.ts";
import { RequestSeal } from "./sealed-request.ts";
import { readStoreMessage, writeStoreMessage } from "./store-message.ts";
import { StoreTransport } from "./store-transport.ts";

const NO_LOGGER = { error: () => {}, warning: () => {} };

/** Channels of the hubs in the store. */
class Channels {
  readonly #listeners = new Map<string, (message: Buffer) => void>();
  /** Messages in the order of sending. */
  readonly sent: { readonly to: string; readonly message: Buffer }[] = [];

  publish(to: string, message: Buffer): Delivery {
    this.sent.push({ to, message });
    const listener = this.#listeners.get(to);
    if (!listener) return "absent";
    queueMicrotask(() => listener(message));
    return "sent";
  }

  peersOf(hub: string): Peers {
    return {
      announce: () => {},
      find: () => ({}),
      send: (to, message) => Promise.resolve(this.publish(to, message)),
      onMessage: (listener) => {
        this.#listeners.set(hub, listener);
        return () => this.#listeners.delete(hub);
      },
      onInterrupted: () => () => {},
    };
  }
}

let channels: Channels;
let client: StoreTransport;
let answers: HttpAnswer[];
let seal: RequestSeal;

function join(hub: string): StoreTransport {
  const own = new RequestSeal({ hub, secret: () => SECRET, now: Date.now, logger: NO_LOGGER });
  return new StoreTransport({
    hub,
    peers: channels.peersOf(hub),
    logger: NO_LOGGER,
    serve: (_, answer) => void answers.push(answer),
    keyOf: (code) => own.messageKey(code),
  });
}
const SECRET = Buffer.from("secret-of-the-store");

beforeEach(() => {
  channels = new Channels();
  answers = [];
  client = join("hub-1");
  join("hub-2");
  seal = new RequestSeal({ hub: "hub-1", secret: () => SECRET, now: Date.now, logger: NO_LOGGER });
});

interface CallInTest {
  readonly texts: string[];
  readonly result: Promise<string>;
  /** Disconnects the caller. */
  readonly leave: () => void;
}

/** Disconnects each caller of the running test. An answer that stays open delays the answers of later tests. */
const callers: (() => void)[] = [];
afterEach(() => {
  for (const leave of callers.splice(0)) leave();
});

/** Returns a caller that records the parts of its answer in `texts`. */
function createCaller(texts: string[]): { readonly http: HttpExchange; readonly leave: () => void } {
  const wire: AnswerWire = {
    events: undefined,
    isGone: false,
    waitingBytes: 0,
    sentBytes: 0,
    setHeader: () => {},
    flush: () => {},
    cut: () => {},
    begin: (status) => void texts.push(String(status)),
    write: (piece) => texts.push(Buffer.from(piece as Uint8Array).toString()) > 0,
    end: (piece = "") => void texts.push(Buffer.from(piece as Uint8Array).toString()),
  };
  const leave = (): void => wire.events?.closed();
  callers.push(leave);
  return { http: { answer: new HttpAnswer(wire) } as HttpExchange, leave };
}

async function call(): Promise<CallInTest> {
  const texts: string[] = [];
  const { http, leave } = createCaller(texts);
  const result = client.forward(http, "hub-2", seal.seal({ to: "hub-2" } as never, "body"));
  await expect.poll(() => answers.length).toBe(1);
  return { texts, result, leave };
}

const ANSWER_HEAD = JSON.stringify({ status: 200, headers: { [RELAY_HEADER]: RELAYED.answered } });

/** Publishes a message of another user of the store, who knows the number of the request. */
function forge(to: string, frame: Omit<OutgoingFrame, "exchange">, key?: Uint8Array): void {
  const from = to === "hub-1" ? "hub-2" : "hub-1";
  const frames = encodeFrames([{ ...frame, exchange: 1 }]);
  channels.publish(to, writeStoreMessage({ from, number: to === "hub-1" ? 1 : 2, frames }, key));
}

test("passes a request and its answer", async () => {
  const { texts, result } = await call();
  answers[0]!.setHeader(RELAY_HEADER, RELAYED.answered).send(200, [], "true answer");
  expect(await result).toBe("answered");
  await expect.poll(() => texts).toEqual(["200", "true answer"]);
});

describe("a user of the store without its secret", () => {
  test.each([
    ["an answer", { type: FRAME.answer, head: ANSWER_HEAD, body: "forged" }],
    ["the start of an answer", { type: FRAME.begin, head: ANSWER_HEAD, body: "" }],
    ["a piece", { type: FRAME.piece, head: "", body: "forged" }],
    ["the end of an answer", { type: FRAME.end, head: "", body: "" }],
    ["a loss", { type: FRAME.cut, head: "", body: "" }],
  ])("cannot send %s", async (_, frame) => {
    const { texts, result } = await call();
    forge("hub-1", frame);
    forge("hub-1", frame, Buffer.from("guess"));
    answers[0]!.setHeader(RELAY_HEADER, RELAYED.answered).send(200, [], "true answer");
    expect(await result).toBe("answered");
    await expect.poll(() => texts).toEqual(["200", "true answer"]);
  });

  test("cannot report that the caller disconnected", async () => {
    const { result } = await call();
    forge("hub-2", { type: FRAME.gone, head: "", body: "" });
    await new Promise((resolve) => void setImmediate(resolve));
    expect(answers[0]!.isGone).toBe(false);
    answers[0]!.setHeader(RELAY_HEADER, RELAYED.answered).send(200, [], "");
    expect(await result).toBe("answered");
  });

  test("cannot use the answer to another request", async () => {
    const first = await call();
    answers[0]!.setHeader(RELAY_HEADER, RELAYED.answered).send(200, [], "first");
    await first.result;
    const answer = channels.sent.findLast(({ to }) => to === "hub-1")!.message;
    const { frames } = readStoreMessage(answer)!;
    answers = [];
    const second = await call();
    const [{ head, body } = { head: "", body: "" }] = Array.from(new FrameDecoder().decode(frames));
    const moved = encodeFrames([{ type: FRAME.answer, exchange: 2, head, body }]);
    channels.publish("hub-1", writeStoreMessage({ from: "hub-2", number: 1, frames: moved }, undefined));
    channels.publish("hub-1", answer);
    answers[0]!.setHeader(RELAY_HEADER, RELAYED.answered).send(200, [], "second");
    await second.result;
    await expect.poll(() => second.texts).toEqual(["200", "second"]);
  });

  test.each([0, 1, 5, 30])("causes no error with %d bytes that are no message", async (length) => {
    const { result } = await call();
    for (const byte of [0, 1, 23, 255])
      for (const hub of ["hub-1", "hub-2"]) {
        channels.publish(hub, Buffer.alloc(length, byte));
        const frames = Buffer.alloc(length, byte);
        channels.publish(hub, writeStoreMessage({ from: "hub-2", number: 1, frames }, undefined));
      }
    answers[0]!.setHeader(RELAY_HEADER, RELAYED.answered).send(200, [], "");
    expect(await result).toBe("answered");
  });
});

test("a caller that disconnects cancels its request at the other hub", async () => {
  const { result, leave } = await call();
  leave();
  expect(await result).toBe("answered");
  await expect.poll(() => answers[0]!.isGone).toBe(true);
});

test("a request whose caller disconnected before is not sent", async () => {
  const { http, leave } = createCaller([]);
  leave();
  expect(await client.forward(http, "hub-2", seal.seal({ to: "hub-2" } as never, "body"))).toBe("answered");
  expect(channels.sent).toEqual([]);
  const { texts, result } = await call();
  answers[0]!.setHeader(RELAY_HEADER, RELAYED.answered).send(200, [], "next answer");
  expect(await result).toBe("answered");
  await expect.poll(() => texts).toEqual(["200", "next answer"]);
});
