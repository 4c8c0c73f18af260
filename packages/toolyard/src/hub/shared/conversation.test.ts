import { describe, expect, test } from "vitest";
import { Conversation } from "./conversation.ts";

const line = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });
const parsed = (lines: readonly string[]): unknown[] => lines.map((one) => JSON.parse(one) as unknown);

function opened(capabilities: object = {}): Conversation {
  const conversation = new Conversation();
  conversation.fromClient(line({ id: 0, method: "initialize", params: { capabilities: { roots: {} } } }));
  conversation.fromHub(line({ id: 0, result: { capabilities } }));
  conversation.fromClient(line({ method: "notifications/initialized" }));
  return conversation;
}

test("passes lines unchanged, also those that are not JSON", () => {
  const conversation = opened();
  const odd = '{ "jsonrpc":"2.0", "id": 12345678901234567890, "method": "ping" }';
  expect(conversation.fromClient(odd)).toEqual({ line: odd });
  expect(conversation.fromClient("{ no JSON")).toEqual({ line: "{ no JSON" });
  expect(
    conversation.fromHub('{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1.0}}').line,
  ).toContain("1.0");
});

describe("after the hub has exited", () => {
  test("answers a call after a byte order mark", () => {
    const conversation = new Conversation();
    conversation.fromClient(`\uFEFF${line({ id: 1, method: "tools/call", params: { name: "a" } })}`);
    expect(parsed(conversation.lost())).toEqual([expect.objectContaining({ id: 1 })]);
  });

  test("reports a call with an unknown result once, and no call that was answered or withdrawn", () => {
    const conversation = opened();
    for (const id of [1, "1", 2, 3]) conversation.fromClient(line({ id, method: "tools/call", params: { name: "a" } }));
    conversation.fromHub(line({ id: 2, result: {} }));
    conversation.fromClient(line({ method: "notifications/cancelled", params: { requestId: 3 } }));
    expect(parsed(conversation.lost())).toEqual([
      expect.objectContaining({ id: 1, result: expect.objectContaining({ isError: true }) }),
      expect.objectContaining({ id: "1", result: expect.objectContaining({ isError: true }) }),
    ]);
    expect(conversation.lost()).toEqual([]);
  });

  test("does not repeat a call with the tool's name as its method, and answers with an error", () => {
    const conversation = opened();
    conversation.fromClient(line({ id: 1, method: "files.delete", params: {} }));
    expect(parsed(conversation.lost())).toEqual([
      expect.objectContaining({ id: 1, error: expect.objectContaining({ code: -32000 }) }),
    ]);
  });

  test("answers a caller without handshake in the format of its revision", () => {
    const conversation = new Conversation();
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    conversation.fromClient(line({ id: 1, method: "tools/call", params: { name: "a", _meta } }));
    expect(parsed(conversation.lost())[0]).toMatchObject({ result: { resultType: "complete", isError: true } });
  });

  test("answers the requests of one batch with one batch", () => {
    const conversation = opened();
    conversation.fromClient(
      JSON.stringify([
        { jsonrpc: "2.0", id: 1, method: "tools/call" },
        { jsonrpc: "2.0", id: 2, method: "ping" },
      ]),
    );
    expect(parsed(conversation.lost())).toEqual([
      [expect.objectContaining({ id: 1 }), expect.objectContaining({ id: 2 })],
    ]);
  });

  test("withdraws an open server request, and passes a later answer to no other hub", () => {
    const conversation = opened();
    conversation.fromHub(line({ id: 1, method: "elicitation/create", params: {} }));
    expect(parsed(conversation.lost())).toEqual([
      expect.objectContaining({ method: "notifications/cancelled", params: expect.objectContaining({ requestId: 1 }) }),
    ]);
    conversation.resume();
    const asked = conversation.fromHub(line({ id: 1, method: "elicitation/create", params: {} })).line!;
    const { id } = JSON.parse(asked) as { id: string };
    expect(id).not.toBe(1);
    expect(conversation.fromClient(line({ id: 1, result: { action: "decline" } }))).toEqual({});
    expect(JSON.parse(conversation.fromClient(line({ id, result: { action: "accept" } })).line!)).toMatchObject({
      id: 1,
      result: { action: "accept" },
    });
  });
});

describe("next hub", () => {
  test("receives the handshake first, then the log level, subscriptions and repeatable requests", async () => {
    const conversation = opened();
    conversation.fromClient(line({ id: 1, method: "logging/setLevel", params: { level: "error" } }));
    for (const uri of ["a:1", "a:2"])
      conversation.fromClient(line({ id: uri, method: "resources/subscribe", params: { uri } }));
    conversation.fromClient(line({ id: 4, method: "resources/unsubscribe", params: { uri: "a:1" } }));
    for (const id of [1, "a:1", "a:2", 4]) conversation.fromHub(line({ id, result: {} }));
    conversation.fromClient(line({ id: 5, method: "tools/list" }));
    conversation.lost();
    const { first, opened: isOpened, rest } = conversation.resume();
    expect(JSON.parse(first!)).toMatchObject({ method: "initialize", params: { capabilities: { roots: {} } } });
    const { id } = JSON.parse(first!) as { id: string };
    expect(
      conversation.fromHub(line({ id, result: { capabilities: { tools: { listChanged: true }, prompts: {} } } })),
    ).toEqual({});
    await isOpened;
    expect(parsed(rest()).map((message) => (message as { method: string }).method)).toEqual([
      "notifications/initialized",
      "logging/setLevel",
      "resources/subscribe",
      "tools/list",
    ]);
    expect(parsed(conversation.changes())).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
    expect(conversation.fromHub(line({ id: 5, result: {} })).line).toBeDefined();
  });

  test("repeats a handshake that was not answered yet", () => {
    const conversation = new Conversation();
    conversation.fromClient(line({ id: 0, method: "initialize", params: {} }));
    expect(conversation.lost()).toEqual([]);
    const { first, rest } = conversation.resume();
    expect(first).toBeUndefined();
    expect(parsed(rest())).toEqual([expect.objectContaining({ id: 0, method: "initialize" })]);
  });

  test("pending requests are answered with an error if there is no next hub", () => {
    const conversation = opened();
    conversation.fromClient(line({ id: 5, method: "tools/list" }));
    expect(parsed(conversation.abandoned("no hub"))).toEqual([
      expect.objectContaining({ id: 5, error: expect.objectContaining({ message: "no hub" }) }),
    ]);
  });
});
