// Requests over HTTP to a real server, and a program between the hubs that changes the answers.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HttpAnswer } from "../answer/answer.ts";
import type { HttpExchange } from "../exchange.ts";
import type { AnswerWire } from "../wire.ts";
import { HttpTransport } from "./http-transport.ts";
import { RELAY_HEADER, RELAYED } from "./relayed-headers.ts";
import { createSignedAnswer } from "./signed-answer.ts";

const LENGTH_BYTES = 4;
const keyOf = (code: string): Buffer => Buffer.from(`key of ${code}`);

/** Response of a Node server. `change` replaces the chunks of its body. */
class ResponseWire implements AnswerWire {
  readonly #response: ServerResponse;
  readonly #change: (chunk: Buffer) => readonly Buffer[];
  events: AnswerWire["events"];
  isGone = false;
  readonly waitingBytes = 0;
  readonly sentBytes = 0;

  constructor(response: ServerResponse, change: (chunk: Buffer) => readonly Buffer[]) {
    this.#response = response;
    this.#change = change;
    response.once("close", () => {
      this.isGone = true;
      this.events?.closed();
    });
  }

  setHeader(): void {}
  begin(status: number, headers: readonly string[]): void {
    // A changed body has another length.
    this.#response.writeHead(status, headers.slice(0, 4) as string[]);
  }
  flush(): void {
    this.#response.flushHeaders();
  }
  write(piece: string | Uint8Array, onTaken?: () => void): boolean {
    for (const chunk of this.#change(Buffer.from(piece as Uint8Array))) this.#response.write(chunk);
    this.#response.write("", onTaken);
    return true;
  }
  end(last: string | Uint8Array = ""): void {
    if (last.length > 0) this.write(last);
    this.#response.end();
  }
  cut(): void {
    this.#response.destroy();
  }
}

let server: Server;
let url: string;
let transport: HttpTransport;
/** Answers the requests of a test. */
let handle: (answer: HttpAnswer) => void;
let change: (chunk: Buffer) => readonly Buffer[];
let keyOfAnswer: (code: string) => Buffer;
const callers: (() => void)[] = [];

const answered = (answer: HttpAnswer): HttpAnswer => answer.setHeader(RELAY_HEADER, RELAYED.answered);

beforeEach(async () => {
  handle = (answer) => answered(answer).send(200, ["x-a", "b"], "true answer");
  change = (chunk) => [chunk];
  keyOfAnswer = keyOf;
  transport = new HttpTransport(keyOf);
  server = createServer((request, response) => {
    request.resume();
    const parts = { key: keyOfAnswer(String(request.headers[RELAY_HEADER])), logger: { error: () => {} } };
    handle(createSignedAnswer({ ...parts, response: new HttpAnswer(new ResponseWire(response, change)) }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  for (const leave of callers.splice(0)) leave();
  transport.close();
  server.closeAllConnections();
  server.close();
});

interface CallInTest {
  readonly result: Promise<string>;
  /** Resolves with the answer that the caller has received. */
  readonly received: Promise<string>;
  readonly text: () => string;
  readonly leave: () => void;
}

function call(): CallInTest {
  let text = "";
  let settle = (_end: string): void => {};
  const received = new Promise<string>((resolve) => (settle = resolve));
  const add = (piece: string | Uint8Array): string => (text += Buffer.from(piece as Uint8Array).toString());
  const wire: AnswerWire = {
    events: undefined,
    isGone: false,
    waitingBytes: 0,
    sentBytes: 0,
    setHeader: () => {},
    flush: () => {},
    begin: (status, headers) => void add(`${status} ${headers.slice(0, 2).join("=")} `),
    write: (piece, onTaken) => (add(piece), setImmediate(() => onTaken?.()), true),
    end: (piece = "") => settle(add(piece)),
    cut: () => settle(`${text} and a cut`),
  };
  const leave = (): void => wire.events?.closed();
  callers.push(leave);
  const http = { method: "POST", answer: new HttpAnswer(wire) } as HttpExchange;
  const result = transport.forward(http, url, { bytes: Buffer.from("request"), code: "code" });
  return { result, received, text: () => text, leave };
}

test.each([0, 10, 16_000, 100_000, 1_500_000])("passes an answer of %d bytes", async (bytes) => {
  const body = "é".repeat(bytes / 2);
  handle = (answer) => answered(answer).send(201, ["x-a", "b"], body);
  const { result, received } = call();
  expect([await result, await received]).toEqual(["answered", `201 x-a=b ${body}`]);
});

test("passes the pieces of a stream while it is open", async () => {
  let stream: HttpAnswer | undefined;
  handle = (answer) => {
    stream = answered(answer);
    answer.begin(200, ["x-a", "b"]);
    answer.write("first ");
  };
  const { result, received, text } = call();
  expect(await result).toBe("answered");
  await expect.poll(text).toBe("200 x-a=b first ");
  stream!.write("second ");
  stream!.end("third");
  expect(await received).toBe("200 x-a=b first second third");
});

test("a caller that disconnects cancels its request at the other hub", async () => {
  let answer: HttpAnswer | undefined;
  handle = (given) => void (answer = given);
  const { result, leave } = call();
  await expect.poll(() => answer).toBeDefined();
  leave();
  expect(await result).toBe("answered");
  await expect.poll(() => answer!.isGone).toBe(true);
});

test.each([
  ["absent", 404, RELAYED.absent],
  ["unsent", 403, undefined],
  ["lost", 500, undefined],
])("returns `%s` for an answer with the status %d and the header %s", async (expected, status, treatment) => {
  handle = (answer) => {
    if (treatment) answer.setHeader(RELAY_HEADER, treatment);
    answer.send(status, [], "not for the caller");
  };
  const { result, text } = call();
  expect([await result, text()]).toEqual([expected, ""]);
});

test.each([
  [200, "lost"],
  [502, "lost"],
  [403, "unsent"],
])("passes nothing of an unsigned response with the status %d", async (status, expected) => {
  server.removeAllListeners("request");
  server.on("request", (_, response) =>
    response.writeHead(status, { [RELAY_HEADER]: RELAYED.answered }).end("written by another program"),
  );
  const { result, text } = call();
  expect([await result, text()]).toEqual([expected, ""]);
});

describe("a program between the hubs", () => {
  const flipped = (chunk: Buffer, at: number): Buffer => {
    const copy = Buffer.from(chunk);
    copy[at]! ^= 1;
    return copy;
  };

  test.each([
    ["the body", (chunk: Buffer) => [flipped(chunk, chunk.length - 1)]],
    ["the code", (chunk: Buffer) => [flipped(chunk, LENGTH_BYTES)]],
    ["the length", (chunk: Buffer) => [flipped(chunk, 0)]],
    ["the type of a frame", (chunk: Buffer) => [flipped(chunk, 2 * LENGTH_BYTES + 16)]],
    ["everything", () => [Buffer.from("written by another program")]],
  ])("cannot change %s of an answer", async (_, changeChunk) => {
    change = changeChunk;
    const { result, text } = call();
    expect([await result, text()]).toEqual(["lost", ""]);
  });

  test("cannot use the answer to another request", async () => {
    keyOfAnswer = () => keyOf("another code");
    const { result, text } = call();
    expect([await result, text()]).toEqual(["lost", ""]);
  });

  /** Records of the stream below: its head, two pieces and its end. */
  test.each([
    ["leave out a piece", 1, () => [], "200 x-a=b  and a cut"],
    ["repeat a piece", 1, (chunk: Buffer) => [chunk, chunk], "200 x-a=b one  and a cut"],
    ["leave out the end", 3, () => [], "200 x-a=b one two  and a cut"],
  ])("cannot %s", async (_, changed, changeChunk, expected) => {
    let at = 0;
    change = (chunk) => (at++ === changed ? changeChunk(chunk) : [chunk]);
    handle = (answer) => {
      answered(answer).begin(200, ["x-a", "b"]);
      answer.write("one ");
      answer.write("two ");
      answer.end();
    };
    const { result, received } = call();
    expect([await result, await received]).toEqual(["answered", expected]);
  });
});
