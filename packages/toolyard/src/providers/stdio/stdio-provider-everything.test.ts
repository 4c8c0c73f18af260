import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ServerRequest } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { CALLER, heard, isAlive, run } from "../../../../../test/fixtures/upstreams/harness.ts";

const everything = fileURLToPath(
  new URL("../../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

async function answer({ method }: ServerRequest): Promise<JsonObject> {
  if (method === "sampling/createMessage")
    return { role: "assistant", model: "test", content: { type: "text", text: "sampled words" } };
  if (method === "elicitation/create") return { action: "accept", content: { name: "Ada", check: true } };
  return { roots: [{ uri: "file:///home/ada" }] };
}

test("server-everything: lists and calls tools, resources, templates and prompts", async () => {
  await using server = run(everything);
  const listing = await server.listed(({ tools }) => tools.some(({ name }) => name === "trigger-sampling-request"));
  expect(listing.tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["echo", "get-sum", "trigger-elicitation-request", "get-roots-list"]),
  );
  expect(listing.resources.length).toBeGreaterThan(0);
  expect(listing.templates.length).toBeGreaterThan(0);
  expect(listing.prompts.map(({ name }) => name)).toContain("simple-prompt");
  expect(listing.features).toEqual({ completions: true, subscribe: true, logging: true });
  expect(listing.problems).toEqual([]);
  expect(listing.instructions?.length).toBeGreaterThan(0);
  expect(await server.text("echo", { message: "hi" })).toBe("Echo: hi");
  expect(await server.call("get-structured-content", { location: "New York" })).toMatchObject({
    ok: true,
    result: { structuredContent: { temperature: 33 } },
  });
});

test("server-everything: delivers every progress notification of a long operation", async () => {
  await using server = run(everything);
  const seen: unknown[] = [];
  await server.text(
    "trigger-long-running-operation",
    { duration: 0.2, steps: 4 },
    { onNotice: ({ params }) => void seen.push(params["progress"]) },
  );
  expect(seen).toEqual([1, 2, 3, 4]);
});

test("server-everything: sends sampling and elicitation to the caller", async () => {
  await using server = run(everything);
  await server.listed(({ tools }) => tools.some(({ name }) => name === "trigger-sampling-request"));
  const asked: string[] = [];
  const onAsk = (ask: ServerRequest): Promise<JsonObject> => (asked.push(ask.method), answer(ask));
  expect(await server.text("trigger-sampling-request", { prompt: "say", maxTokens: 5 }, { onAsk })).toContain(
    "sampled words",
  );
  const outcome = await server.call("trigger-elicitation-request", {}, { onAsk });
  expect(JSON.stringify(outcome)).toContain("Ada");
  // The server requests the roots on its own, some time after its start: before these calls, or during them.
  expect(asked.filter((method) => method !== "roots/list")).toEqual(["sampling/createMessage", "elicitation/create"]);
});

test("server-everything: ends a cancelled operation immediately, and keeps the server usable", async () => {
  await using server = run(everything);
  const controller = new AbortController();
  const outcome = await server.call(
    "trigger-long-running-operation",
    { duration: 20, steps: 200 },
    { signal: controller.signal, onNotice: () => controller.abort() },
  );
  expect(outcome).toMatchObject({ ok: false, kind: "cancelled" });
  expect(await server.text("echo", { message: "still here" })).toBe("Echo: still here");
});

test("server-everything: delivers resource updates while subscribed", async () => {
  await using server = run(everything);
  const [resource] = (await server.listing()).resources;
  const end = await server.provider.subscribe!(resource!.uri, CALLER);
  await server.text("toggle-subscriber-updates");
  expect((await heard(server.provider.events.resourceUpdated)).uri).toBe(resource!.uri);
  await end();
});

test("server-everything: completes a prompt's argument", async () => {
  await using server = run(everything);
  const prompt = (await server.listing()).prompts.find(({ name }) => name === "completable-prompt");
  const ref = { type: "ref/prompt", name: "rendered__name" };
  const outcome = await server.call(
    "completable-prompt",
    {},
    {
      method: "completion/complete",
      record: { type: "completion", ref, prompt: prompt! },
      params: { ref, argument: { name: "department", value: "E" } },
    },
  );
  expect(outcome).toMatchObject({ ok: true, result: { completion: { values: ["Engineering"] } } });
});

test("server-everything: answers a call during which it is killed, and serves the next one", async () => {
  await using server = run(everything);
  await server.text("echo", { message: "up" });
  const { pid } = server.provider.status();
  const outcome = await server.call(
    "trigger-long-running-operation",
    { duration: 20, steps: 100 },
    { onNotice: () => void process.kill(pid!, "SIGKILL") },
  );
  expect(outcome).toMatchObject({ ok: false, kind: "unavailable" });
  expect(await server.text("echo", { message: "back" })).toBe("Echo: back");
  expect(isAlive(pid!)).toBe(false);
});
