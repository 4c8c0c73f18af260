// Tables of malformed input for each endpoint, against a whole hub: status and code are as expected, there is one
// reply, and afterwards the same connection is served.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { SseDecoder } from "../../packages/toolyard/src/wire/sse.ts";
import { MALFORMED_LINES, MALFORMED_POSTS, REFUSED_BODIES, REFUSED_HEADERS } from "../support/malformed.ts";
import { ServeChild } from "../support/serve-child.ts";
import { FUZZ_CONFIG } from "./fuzz-config.ts";
import { messagesOf, parseMessages, post, type HttpAnswer } from "./http-driver.ts";

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const HANDSHAKE = { capabilities: {}, clientInfo: { name: "t", version: "1" } };

const bytesOf = (body: unknown): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
const rpc = (id: unknown, method: string, params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
const sendTo = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  post(url, [bytesOf(body)], { ...JSON_HEADERS, ...headers });

let served: ServeChild;

beforeAll(async () => {
  served = await ServeChild.start({ config: FUZZ_CONFIG });
});

afterAll(() => served[Symbol.asyncDispose]());

async function openSession(protocolVersion: string): Promise<Record<string, string>> {
  const answer = await sendTo(served.url, rpc(0, "initialize", { ...HANDSHAKE, protocolVersion }));
  return { "mcp-session-id": String(answer.headers["mcp-session-id"]) };
}

describe("Streamable HTTP, modern era", () => {
  test.each(MALFORMED_POSTS)("$what → $status $code", async ({ body, headers, status, code, id }) => {
    const answer = await sendTo(served.url, body, headers);
    expect(answer.status).toBe(status);
    const messages = messagesOf(answer);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({ jsonrpc: "2.0", error: { code } });
    if (id !== undefined) expect(messages[0]!["id"]).toBe(id);
  });
});

describe("Streamable HTTP, legacy era", () => {
  test.each(REFUSED_HEADERS)("refuses %s", async (_what, bad, status, code) => {
    const session = await openSession("2025-11-25");
    const answer = await sendTo(served.url, rpc(1, "ping"), { ...session, ...bad });
    expect([answer.status, messagesOf(answer)]).toMatchObject([status, [{ error: { code } }]]);
    expect((await sendTo(served.url, rpc(2, "ping"), session)).status).toBe(200);
  });

  test.each(REFUSED_BODIES)("refuses a body of %s", async (_what, body, status, code) => {
    const session = await openSession("2025-03-26");
    const answer = await sendTo(served.url, body, session);
    expect([answer.status, messagesOf(answer)]).toMatchObject([status, [{ error: { code } }]]);
    expect((await sendTo(served.url, rpc(2, "ping"), session)).status).toBe(200);
  });

  test.each<[what: string, message: JsonObject, code: number]>([
    ["an unknown method", rpc(1, "no/such"), -32601],
    ["a call without a name", rpc(1, "tools/call"), -32602],
    ["a call of an unknown tool", rpc(1, "tools/call", { name: "nope" }), -32602],
    ["arguments that are a list", rpc(1, "tools/call", { name: "echo", arguments: [] }), -32602],
    ["an unknown cursor", rpc(1, "tools/list", { cursor: "zzz" }), -32602],
    ["a cursor that is a number", rpc(1, "tools/list", { cursor: 5 }), -32602],
    ["an unknown resource", rpc(1, "resources/read", { uri: "test://nowhere" }), -32002],
    ["a resource without a URI", rpc(1, "resources/read"), -32602],
    ["an unknown prompt", rpc(1, "prompts/get", { name: "nope" }), -32602],
    ["a completion without a reference", rpc(1, "completion/complete", { argument: { name: "a", value: "" } }), -32602],
    ["an unknown log level", rpc(1, "logging/setLevel", { level: "loud" }), -32602],
    ["a subscription to what no source offers", rpc(1, "resources/subscribe", { uri: "nowhere://x" }), -32002],
  ])("refuses %s in the reply", async (_what, message, code) => {
    const session = await openSession("2025-11-25");
    const answer = await sendTo(served.url, message, session);
    expect([answer.status, messagesOf(answer)]).toMatchObject([200, [{ id: 1, error: { code } }]]);
  });

  test.each<[what: string, name: string, args: JsonObject, text: RegExp]>([
    ["of the wrong type", "echo", { text: 5 }, /text/],
    ["that lack what is required", "progress", {}, /steps/],
    ["over a bound", "progress", { steps: 1000 }, /steps/],
  ])("C37: for arguments %s the result names the problem", async (_what, name, args, text) => {
    const session = await openSession("2025-11-25");
    const answer = await sendTo(served.url, rpc(1, "tools/call", { name, arguments: args }), session);
    expect(messagesOf(answer)).toMatchObject([
      { id: 1, result: { isError: true, content: [{ text: expect.stringMatching(text) }] } },
    ]);
    const old = await openSession("2025-06-18");
    expect(messagesOf(await sendTo(served.url, rpc(1, "tools/call", { name, arguments: args }), old))).toMatchObject([
      { id: 1, error: { code: -32602 } },
    ]);
  });

  test("S4: answers 413 for a body over the limit", async () => {
    const answer = await sendTo(
      served.url,
      rpc(1, "tools/call", { name: "echo", arguments: { text: "x".repeat(100_000) } }),
      await openSession("2025-11-25"),
    );
    expect(answer.status).toBe(413);
  });
});

describe("HTTP+SSE", () => {
  /**
   * Posts on a separate connection; returns the status of each post and the events of the stream until the last answer.
   */
  async function exchange(...bodies: readonly unknown[]): Promise<{ answers: HttpAnswer[]; messages: JsonObject[] }> {
    const closing = new AbortController();
    const base = served.url.replace(/\/mcp$/, "");
    const response = await fetch(`${base}/sse`, { headers: { accept: "text/event-stream" }, signal: closing.signal });
    const messages: JsonObject[] = [];
    let endpoint = "";
    let wake = (): void => {};
    const decoder = new SseDecoder(1e7, {
      onEvent: ({ event, data }) => {
        if (event === "endpoint") endpoint = new URL(data, base).href;
        else messages.push(...parseMessages(data));
        wake();
      },
    });
    const reading = (async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) decoder.push(Buffer.from(chunk));
    })().catch(() => {});
    const until = async (isThere: () => boolean): Promise<void> => {
      while (!isThere()) await new Promise<void>((resolve) => (wake = resolve));
    };
    await until(() => endpoint !== "");
    const answers: HttpAnswer[] = [];
    for (const body of [
      rpc("open", "initialize", { ...HANDSHAKE, protocolVersion: "2024-11-05" }),
      ...bodies,
      rpc("end", "ping"),
    ])
      answers.push(await sendTo(endpoint, body));
    await until(() => messages.some(({ id }) => id === "end"));
    closing.abort();
    await reading;
    return { answers: answers.slice(1, -1), messages: messages.filter(({ id }) => id !== "open" && id !== "end") };
  }

  test.each(REFUSED_BODIES)(
    "refuses a body of %s in the answer to its post, and not on the stream",
    async (what, body, status, code) => {
      const { answers, messages } = await exchange(body);
      const [answer] = answers;
      if (answer!.status === 202) expect(messages, what).toMatchObject([{ error: { code } }]);
      else expect([answer!.status, messagesOf(answer!), messages]).toMatchObject([status, [{ error: { code } }], []]);
    },
  );

  test("answers a message with invalid parameters only on the stream", async () => {
    const { answers, messages } = await exchange(
      rpc(1, "no/such"),
      rpc(2, "tools/call", { name: "nope" }),
      rpc(3, "resources/read", { uri: "test://nowhere" }),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(messages.map(({ id, error }) => [id, (error as JsonObject)["code"]]).toSorted()).toEqual([
      [1, -32601],
      [2, -32602],
      [3, -32002],
    ]);
  });
});

describe("stdio", () => {
  test("refuses every line of the table once, in both eras, and serves the next line", async () => {
    await using pipe = await ServeChild.start({ config: FUZZ_CONFIG, endpoint: "stdio" });
    const replies: JsonObject[] = [];
    let rest = "";
    let wake = (): void => {};
    pipe.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      replies.push(...lines.flatMap(parseMessages));
      wake();
    });
    for (const [at, [what, line, code, id]] of MALFORMED_LINES.entries()) {
      replies.length = 0;
      pipe.stdin.write(`${line}\n${JSON.stringify(rpc(`after ${at}`, "ping"))}\n`);
      while (!replies.some((reply) => reply["id"] === `after ${at}`))
        await new Promise<void>((resolve) => (wake = resolve));
      expect(replies, what).toMatchObject([
        { jsonrpc: "2.0", id, error: { code } },
        { id: `after ${at}`, result: {} },
      ]);
    }
    // Cases of the modern era that do not depend on HTTP headers.
    const messages = MALFORMED_POSTS.filter(
      ({ headers, body }) =>
        headers !== undefined &&
        !Array.isArray(body) &&
        typeof body === "object" &&
        !Buffer.isBuffer(body) &&
        "params" in body,
    );
    for (const { what, body, code } of messages.filter((one) => one.code !== -32020)) {
      replies.length = 0;
      pipe.stdin.write(`${JSON.stringify({ ...(body as JsonObject), id: what })}\n`);
      while (replies.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      // Without an envelope that names a revision, a message belongs to the legacy era and may be valid there.
      const isModern = JSON.stringify(body).includes("io.modelcontextprotocol/protocolVersion");
      if (isModern) expect(replies, what).toMatchObject([{ id: what, error: { code } }]);
      else
        expect(
          replies.map(({ id }) => id),
          what,
        ).toEqual([what]);
    }
    pipe.stdin.end();
    expect(await pipe.exited).toEqual({ code: 0, signal: null });
  });
});

test("the log reports no fault of the hub after all malformed messages", () => {
  expect(served.log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
