// The agent behind `POST /api/chat`: it receives a question, calls the hub's tools with the caller's rights, and
// returns the answer.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { startModels, type ModelRequest, type ModelStandIn, type ScriptedReply } from "./stand-in.ts";
import { openUpstream, tool } from "../security/attack.ts";
import { toolsFile } from "./tools-file.ts";

let models: ModelStandIn;
let hub: LibraryHub;
let url: string;
beforeAll(async () => {
  models = await startModels();
  const tokens = { whole: { token: "whole-token" }, narrow: { token: "narrow-token", allow: ["say"] } };
  hub = await createHub({
    settings: {
      modules: { paths: [toolsFile] },
      server: { port: 0, tokens },
      models: { ...models.models, language: "openai-chat/gpt-x" },
      agent: { hints: { add: "For sums." } },
    },
    logger: SILENT_LOGGER,
  });
  url = (await hub.serve()).address.url;
});
afterAll(async () => {
  await hub?.close();
  await models?.close();
});
let from = 0;
beforeEach(() => {
  from = models.asked.length;
});
afterEach(() => models.say([]));

const asked = (): readonly ModelRequest[] => models.asked.slice(from);
const toolsOf = ({ body }: ModelRequest): string[] =>
  (body["tools"] as { function: { name: string } }[]).map(({ function: { name } }) => name);
const call = (name: string, args: object = {}): ScriptedReply => ({ calls: [{ name, arguments: args }] });

async function chat(
  body: object,
  { token = "whole-token", accept = "application/json", at = url } = {},
): Promise<{ status: number; text: string; json: () => Record<string, unknown> }> {
  const response = await fetch(`${at}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}`, accept },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) as Record<string, unknown> };
}

test("answers a question with the hub's tools, and uses the history for the next question", async () => {
  models.say([call("add", { a: 2, b: 3 }), { text: "Five." }, { text: "I said five." }]);
  const first = await chat({ message: "2+3?" });
  expect(first.status).toBe(200);
  expect(first.json()).toMatchObject({
    text: "Five.",
    stopReason: "final",
    steps: [{ calls: [{ tool: "add", value: 5 }] }, { calls: [] }],
  });
  const second = await chat({ message: "What did you say?", history: first.json()["history"] });
  expect(second.json()).toMatchObject({ text: "I said five." });
  expect((asked().at(-1)!.body["messages"] as { role: string }[]).map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
});

test("answers as a task that ends with the reply and that only its caller can read", async () => {
  models.say([call("add", { a: 2, b: 3 }), { text: "Five." }]);
  const headers = { "content-type": "application/json", prefer: "respond-async" };
  const as = (token: string) => ({ ...headers, authorization: `Bearer ${token}` });
  const body = JSON.stringify({ message: "2+3?" });
  const started = await fetch(`${url}/api/chat`, { method: "POST", headers: as("whole-token"), body });
  expect(started.status).toBe(202);
  const address = new URL(started.headers.get("location")!, url);
  const stream = await fetch(address, { headers: { ...as("whole-token"), accept: "text/event-stream" } });
  expect(await stream.text()).toContain('"status":"completed"');
  const task = await (await fetch(address, { headers: as("whole-token") })).json();
  expect(task).toMatchObject({ tool: "chat", status: "completed", result: { text: "Five.", stopReason: "final" } });
  expect((await fetch(address, { headers: as("narrow-token") })).status).toBe(404);
});

test("cancelling the task ends the answer, and an invalid question starts no task", async () => {
  models.say([call("add", { a: 2, b: 3 }), { text: "Five." }]);
  const headers = { "content-type": "application/json", authorization: "Bearer whole-token", prefer: "respond-async" };
  const faulty = await fetch(`${url}/api/chat`, { method: "POST", headers, body: JSON.stringify({ message: "" }) });
  expect(faulty.status).toBe(400);
  const body = JSON.stringify({ message: "2+3?" });
  const { id } = (await (await fetch(`${url}/api/chat`, { method: "POST", headers, body })).json()) as { id: string };
  const cancelled = await fetch(`${url}/api/tasks/${id}`, { method: "DELETE", headers });
  expect(["cancelled", "completed"]).toContain(((await cancelled.json()) as { status: string }).status);
});

test("gives a caller with fewer rights fewer tools, and refuses other tools called through the model", async () => {
  models.say([call("add", { a: 2, b: 3 }), { text: "I may not." }]);
  const { json } = await chat({ message: "2+3?" }, { token: "narrow-token" });
  expect(json()).toMatchObject({ text: "I may not.", steps: [{ calls: [{ tool: "add", ok: false }] }, {}] });
  expect(toolsOf(asked()[0]!)).toEqual(["say"]);
  expect(JSON.stringify(asked()[0]!.body)).not.toContain("For sums.");
});

test("gives the model the instructions of only those sources that its caller may use", async () => {
  await using secret = await openUpstream({ instructions: "The crown opens with crown__open.", tools: [tool("open")] });
  await using open = await openUpstream({ instructions: "Say pub__hello first.", tools: [tool("hello")] });
  const tokens = { whole: { token: "whole-token" }, narrow: { token: "narrow-token", allow: ["pub__*"] } };
  const served = await createHub({
    settings: {
      mcp: {
        remote_servers: [
          { namespace: "crown", url: secret.url },
          { namespace: "pub", url: open.url },
        ],
      },
      server: { port: 0, tokens },
      models: { ...models.models, language: "openai-chat/gpt-x" },
    },
    logger: SILENT_LOGGER,
  });
  await using _closing = { [Symbol.asyncDispose]: () => served.close() };
  const { address } = await served.serve();
  await served.list();
  const promptFor = async (token: string): Promise<string> => {
    models.say([{ text: "Hello." }]);
    await chat({ message: "hello" }, { token, at: address.url });
    return JSON.stringify(asked().at(-1)!.body);
  };
  const [whole, narrow] = [await promptFor("whole-token"), await promptFor("narrow-token")];
  expect(whole).toContain("The crown opens with crown__open.");
  expect(narrow).toContain("Say pub__hello first.");
  expect(narrow).not.toContain("crown");
});

test("sends events as they happen to a client that accepts them", async () => {
  models.say([call("add", { a: 2, b: 3 }), { text: "Five." }]);
  const { text } = await chat({ message: "2+3?" }, { accept: "text/event-stream" });
  const events = [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name);
  expect(events).toEqual(expect.arrayContaining(["step", "call", "result", "text"]));
  expect(text).toContain('"Five."');
});

test("refuses an invalid history without a request to the model", async () => {
  expect((await chat({ message: "hello", history: [{ role: "robot", content: "x" }] })).status).toBe(400);
  expect(asked()).toEqual([]);
});

test("does not fetch the URL of a file in a history", async () => {
  models.say([{ text: "ok" }]);
  const before = models.asked.length;
  await chat({
    message: "hello",
    history: [
      { role: "user", content: [{ type: "image", image: `${models.url}/secret.png` }] },
      { role: "assistant", content: "Nice." },
    ],
  });
  expect(models.asked.length - before).toBe(1);
  expect(JSON.stringify(asked().at(-1)!.body)).toContain(`${models.url}/secret.png`);
});

test("without a language model, reports that the agent requires one", async () => {
  await using plain = {
    hub: await createHub({ settings: { server: { port: 0 } }, logger: SILENT_LOGGER }),
    [Symbol.asyncDispose]: async () => plain.hub.close(),
  };
  const { address } = await plain.hub.serve();
  const response = await fetch(`${address.url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"message":"hello"}',
  });
  expect([response.status, await response.text()]).toEqual([
    503,
    expect.stringContaining("no language model is configured"),
  ]);
});

test("names the variable of a missing key in one line", async () => {
  await using plain = {
    hub: await createHub({
      settings: { server: { port: 0 }, models: { language: "mistral/m" } },
      variables: {},
      logger: SILENT_LOGGER,
    }),
    [Symbol.asyncDispose]: async () => plain.hub.close(),
  };
  const { address } = await plain.hub.serve();
  const response = await fetch(`${address.url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"message":"hello"}',
  });
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("MISTRAL_API_KEY")]);
});
