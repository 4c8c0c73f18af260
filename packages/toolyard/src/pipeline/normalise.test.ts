import { expect, test } from "vitest";
import type { JsonObject } from "../core/json/json.ts";
import { fail, ok, type Outcome } from "../core/calls/outcome.ts";
import { supposedName } from "../core/ports/rights.ts";
import {
  createHarness,
  providerFrom,
  toolFrom,
  type Handler,
  type ToolOptions,
} from "../../../../test/support/pipeline.ts";

function one(handler: Handler, options?: ToolOptions): ReturnType<typeof createHarness> {
  return createHarness({ t: toolFrom("t", handler, options) });
}

test("returns a valid result as the same object", async () => {
  const result = {
    content: [{ type: "text", text: "hi", unknown: 1 }],
    structuredContent: { a: 1 },
    _meta: { x: 1 },
    more: true,
  };
  const outcome = await one(() => ok(result)).call("t");
  expect(outcome.ok && outcome.result).toBe(result);
});

test("C8: a tool that reports a failure is a tool_error, with its result unchanged", async () => {
  const result = { content: [{ type: "text", text: "no such file" }], isError: true, _meta: { a: 1 } };
  const outcome = await one(() => ok(result)).call("t");
  expect(outcome).toMatchObject({ ok: false, kind: "tool_error", message: "no such file", retryable: false });
  expect(!outcome.ok && outcome.result).toBe(result);
});

test.each([
  ["a list", [] as never],
  ["a text", "text" as never],
  ["content that is a text", { content: "text" }],
  ["content of texts", { content: ["text"] }],
  ["an unfinished result nobody asked for", { resultType: "input_required", inputRequests: {} }],
  ["a task", { resultType: "task", task: {} }],
])("refuses %s as malformed", async (_, result) => {
  expect(await one(() => ok(result)).call("t")).toMatchObject({
    ok: false,
    kind: "malformed",
    message: expect.stringContaining("files__t answered with"),
  });
});

test.each([
  ["no content", {}, { content: [] }],
  [
    "structured content alone",
    { structuredContent: { a: 1 } },
    { structuredContent: { a: 1 }, content: [{ type: "text", text: '{"a":1}' }] },
  ],
])("completes %s", async (_, result, complete) => {
  expect(await one(() => ok(result)).call("t")).toEqual({ ok: true, result: complete });
});

test("passes a result that requests input unchanged to a caller that relays it", async () => {
  const result = { resultType: "input_required", inputRequests: {} };
  const outcome = await one(() => ok(result), { outputSchema: { type: "object" } }).call(
    "t",
    {},
    { relaysInput: true },
  );
  expect(outcome.ok && outcome.result).toBe(result);
});

test.each([
  ["resources/read", { type: "resource", uri: "file:///a" }, { contents: [{ uri: "file:///a" }] }],
  ["prompts/get", { type: "prompt", prompt: { definition: {} } }, { messages: [{ role: "user" }] }],
  ["completion/complete", { type: "completion", ref: {} }, { completion: { values: ["a"] } }],
] as const)("%s has a separate result form", async (method, target, good) => {
  let result: object = good;
  const source = { id: "files", kind: "stdio" as const, namespace: "files", order: 0 };
  const found = {
    found: true as const,
    name: "x",
    subject: supposedName({ namespace: "", separator: "__" }, "x"),
    target: target as never,
    provider: providerFrom(source, () => ok(result as never)),
  };
  const harness = createHarness({ x: found });
  expect(await harness.call("x", {}, { method })).toMatchObject({ ok: true });
  result = { content: [] };
  expect(await harness.call("x", {}, { method })).toMatchObject({ kind: "malformed" });
});

test("a result over its size limit is too_large, for a success and for an error", async () => {
  const big = (isError: boolean): Outcome => ok({ content: [{ type: "text", text: "x".repeat(2000) }], isError });
  const harness = createHarness(
    {
      t: toolFrom("t", () => big(false)),
      e: toolFrom("e", () => big(true)),
      r: toolFrom("r", () => big(false), { limits: { maxResultBytes: 5000 } }),
    },
    { limits: { max_result_bytes: 1000 } },
  );
  expect(await harness.call("t")).toMatchObject({ kind: "too_large", details: { maxBytes: 1000 } });
  expect(await harness.call("e")).toMatchObject({ kind: "too_large" });
  expect(await harness.call("r")).toMatchObject({ ok: true });
});

test("a result that is nested too deeply is malformed", async () => {
  const deep = JSON.parse("[".repeat(20_000) + "]".repeat(20_000)) as unknown;
  expect(await one(() => ok({ content: [], deep })).call("t")).toMatchObject({
    kind: "malformed",
    message: expect.stringContaining("nested"),
  });
});

test("structured content that does not match is reported, unchecked or refused, as configured", async () => {
  const result = { content: [], structuredContent: { n: "text" } };
  const tool = toolFrom("t", () => ok(result), {
    outputSchema: { type: "object", properties: { n: { type: "number" } } },
  });
  const warn = createHarness({ t: tool });
  const outcome = await warn.call("t");
  await warn.call("t");
  expect(outcome.ok && outcome.result).toBe(result);
  expect(warn.log.filter(({ level }) => level === "warning")).toHaveLength(1);
  const off = createHarness({ t: tool }, { limits: { output_validation: "off" } });
  await off.call("t");
  expect(off.log.filter(({ level }) => level === "warning")).toHaveLength(0);
  const strict = createHarness({ t: tool }, { limits: { output_validation: "strict" } });
  expect(await strict.call("t")).toMatchObject({
    kind: "malformed",
    message: expect.stringContaining("`n` must be a number"),
  });
});

test("never checks an error against the output schema", async () => {
  const tool = toolFrom("t", () => ok({ content: [{ type: "text", text: "broken" }], isError: true }), {
    outputSchema: { type: "object", required: ["n"] },
  });
  expect(await createHarness({ t: tool }, { limits: { output_validation: "strict" } }).call("t")).toMatchObject({
    kind: "tool_error",
    message: "broken",
  });
});

test("does not write defaults of an output schema into results", async () => {
  const result = { content: [], structuredContent: {} };
  const tool = toolFrom("t", () => ok(result), { outputSchema: { type: "object", properties: { n: { default: 1 } } } });
  await createHarness({ t: tool }, { limits: { output_validation: "strict" } }).call("t");
  expect(result).toEqual({ content: [], structuredContent: {} });
});

const words = [{ type: "text", text: "words" }];

test.each<[string, ToolOptions["outputSchema"]]>([
  ["without an output schema", undefined],
  ["whose output is an object", { type: "object" }],
  ["whose output may be text or a number", { anyOf: [{ type: "string" }, { type: "number" }] }],
])("null as structured content counts as absent for a tool %s", async (_, outputSchema) => {
  const result = { content: words, structuredContent: null };
  const outcome = await one(() => ok(result), outputSchema ? { outputSchema } : {}).call("t");
  expect(outcome.ok && outcome.result).toEqual({ content: words });
  const failure = fail("tool_error", "no", { result: { ...result, isError: true } });
  const failed = await one(() => failure).call("t");
  expect(!failed.ok && failed.result).toEqual({ content: words, isError: true });
});

test.each([
  { type: "null" },
  { type: ["object", "null"] },
  { anyOf: [{ type: "object" }, { type: "null" }] },
  { oneOf: [{ type: "string" }, { const: null }] },
  { enum: ["a", null] },
])("null as structured content stays for a tool whose output schema %j permits it", async (outputSchema) => {
  const result = { content: words, structuredContent: null };
  const outcome = await one(() => ok(result), { outputSchema }).call("t");
  expect(outcome.ok && outcome.result).toBe(result);
});

test("a result with null and without content has no content", async () => {
  const outcome = await one(() => ok({ structuredContent: null })).call("t");
  expect(outcome.ok && outcome.result).toEqual({ content: [] });
});

test.each<[string, object, object]>([
  ["annotations of null", { content: [{ ...words[0], annotations: null }] }, { content: words }],
  [
    "an unknown audience",
    { content: [{ ...words[0], annotations: { audience: ["robot"] } }] },
    { content: [{ ...words[0], annotations: { audience: [] } }] },
  ],
  ["_meta that is a list", { content: words, _meta: [] }, { content: words }],
  ["isError of null", { content: words, isError: null }, { content: words }],
  [
    "a link without a name",
    { content: [{ type: "resource_link", uri: "a:b" }] },
    { content: [{ type: "resource_link", uri: "a:b", name: "a:b" }] },
  ],
  [
    "an embedded resource with a media type of null",
    { content: [{ type: "resource", resource: { uri: "a:b", text: "x", mimeType: null } }] },
    { content: [{ type: "resource", resource: { uri: "a:b", text: "x" } }] },
  ],
])("removes %s from a result and reports it once", async (_, result, expected) => {
  const harness = one(() => ok(structuredClone(result) as JsonObject));
  for (const _again of [1, 2]) {
    const outcome = await harness.call("t");
    expect(outcome.ok && outcome.result).toEqual(expected);
  }
  expect(harness.problems).toMatchObject([{ source: "files", subject: "files__t", repaired: true }]);
});

test.each<[string, object, string]>([
  ["a text without text", { content: [{ type: "text" }] }, 'a block of type "text" without its `text`'],
  ["text of null", { content: [{ type: "text", text: null }] }, 'a block of type "text" without its `text`'],
  ["a number as text", { content: [{ type: "text", text: 5 }] }, 'a block of type "text" without its `text`'],
  ["an image without data", { content: [{ type: "image", mimeType: "image/png" }] }, "without its `data`"],
  ["audio without data", { content: [{ type: "audio", mimeType: "audio/wav" }] }, "without its `data`"],
  ["an empty embedded resource", { content: [{ type: "resource" }] }, "without its `resource`"],
  ["a link without a URI", { content: [{ type: "resource_link", name: "n" }] }, "without its `uri`"],
  ["a block without a type", { content: [{ text: "x" }] }, "a block of `content` without a `type`"],
  ["one bad block of two", { content: [...words, { type: "text" }] }, "without its `text`"],
])("refuses a result with %s as malformed", async (_, result, reason) => {
  const outcome = await one(() => ok(result as JsonObject)).call("t");
  expect(outcome).toMatchObject({ ok: false, kind: "malformed", message: expect.stringContaining(reason) });
});

test("a failure with a block without text stays a failure", async () => {
  const outcome = await one(() => ok({ content: [{ type: "text" }], isError: true })).call("t");
  expect(outcome).toMatchObject({ ok: false, kind: "tool_error" });
});

test.each<[string, object]>([
  ["no blocks", { content: [] }],
  ["an empty text", { content: [{ type: "text", text: "" }] }],
  ["a block of an unknown type", { content: [{ type: "hologram", annotations: null }] }],
])("returns a result with %s unchanged", async (_, result) => {
  const outcome = await one(() => ok(result as JsonObject)).call("t");
  expect(outcome.ok && outcome.result).toBe(result);
});
