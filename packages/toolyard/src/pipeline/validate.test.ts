import { describe, expect, test } from "vitest";
import { NO_SHAPE, type ArgumentValidation } from "../core/sources/listing-shape.ts";
import { ok } from "../core/calls/outcome.ts";
import { supposedName } from "../core/ports/rights.ts";
import {
  createHarness,
  providerFrom,
  text,
  toolFrom,
  type Handler,
  type ToolOptions,
} from "../../../../test/support/pipeline.ts";

const hello: Handler = () => text("hello");

function one(handler: Handler, options?: ToolOptions): ReturnType<typeof createHarness> {
  return createHarness({ t: toolFrom("t", handler, options) });
}

test("G12, C37: arguments that do not match never reach the provider", async () => {
  let calls = 0;
  const harness = one(
    () => {
      calls += 1;
      return text("ran");
    },
    { inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  );
  expect(await harness.call("t", {})).toMatchObject({
    kind: "invalid_params",
    message: "Missing required parameter: city",
    details: { errors: [{ path: "city" }] },
  });
  expect(calls).toBe(0);
  expect(await harness.call("t", { city: "Bonn" })).toMatchObject({ ok: true });
  expect(calls).toBe(1);
});

test("a request about a server's task reaches only that server, without the tool's arguments", async () => {
  const calls: unknown[] = [];
  const harness = one(({ arguments: args }) => (calls.push(args), text("followed")), {
    sourceId: "files",
    inputSchema: { type: "object", required: ["city"] },
  });
  const follows = { source: "files", taskId: "t-1", era: "modern" } as const;
  expect(await harness.call("t", {}, { follows })).toMatchObject({ ok: true });
  expect(await harness.call("t", {}, { follows: { ...follows, source: "other" } })).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("a tool of another source"),
    retryable: false,
  });
  expect(calls).toEqual([{}]);
});

test("C37: passes arguments with defaults to the provider, and keeps the caller's object unchanged", async () => {
  const seen: unknown[] = [];
  const harness = one(
    (call) => {
      seen.push(call.arguments);
      return text("ran");
    },
    { inputSchema: { type: "object", properties: { unit: { default: "celsius" } } } },
  );
  const args = {};
  await harness.call("t", args);
  expect([seen, args]).toEqual([[{ unit: "celsius" }], {}]);
});

test("reports an invalid input schema once, and calls go on", async () => {
  const harness = one(hello, { inputSchema: { type: "object", required: true } });
  expect(await harness.call("t", { a: 1 })).toMatchObject({ ok: true });
  await harness.call("t", { a: 1 });
  expect(harness.problems).toEqual([
    { source: "files", subject: "t", message: expect.stringContaining("input schema cannot be used") },
  ]);
});

test("leaves the check of a prompt's arguments to its source", async () => {
  const source = { id: "files", kind: "stdio" as const, namespace: "files", order: 0 };
  const harness = createHarness({
    p: {
      found: true,
      name: "p",
      subject: supposedName({ namespace: "", separator: "__" }, "p"),
      target: {
        type: "prompt",
        prompt: { source, name: "p", definition: { arguments: [{ name: "a", required: true }] } },
      },
      provider: providerFrom(source, (call) => ok({ messages: [], given: call.arguments })),
    },
  });
  const outcome = await harness.call("p", {}, { method: "prompts/get" });
  expect(outcome).toMatchObject({ ok: true, result: { given: {} } });
});

describe("validation mode of a source", () => {
  const inputSchema = {
    type: "object",
    properties: {
      count: { type: "integer", minimum: 1 },
      note: { type: "string", default: null },
      unit: { default: "c" },
    },
    required: ["count"],
  };

  function configured(validation?: ArgumentValidation): { seen: unknown[]; harness: ReturnType<typeof createHarness> } {
    const seen: unknown[] = [];
    const shape = { ...NO_SHAPE, ...(validation && { validation }) };
    const target = toolFrom(
      "t",
      (call) => {
        seen.push(call.arguments);
        return text("ran");
      },
      { inputSchema, shape },
    );
    return { seen, harness: createHarness({ t: target }) };
  }

  test.each([undefined, "coerce" as const])("%s converts text to a number and fills in defaults", async (mode) => {
    const { seen, harness } = configured(mode);
    const args = { count: "3" };
    expect(await harness.call("t", args)).toMatchObject({ ok: true });
    expect([seen, args]).toEqual([[{ count: 3, unit: "c" }], { count: "3" }]);
  });

  test("`coerce` refuses text that is not a number, with the message for the original text", async () => {
    const { harness } = configured();
    for (const count of ["0", "1.5", "three"])
      expect(await harness.call("t", { count })).toMatchObject({
        kind: "invalid_params",
        message: "`count` must be an integer, got a string",
      });
  });

  test("`strict` refuses text", async () => {
    const { seen, harness } = configured("strict");
    expect(await harness.call("t", { count: "3" })).toMatchObject({ kind: "invalid_params" });
    expect(seen).toEqual([]);
  });

  test("`off` passes arguments on unchanged", async () => {
    const { seen, harness } = configured("off");
    expect(await harness.call("t", { count: "three", more: null })).toMatchObject({ ok: true });
    expect(seen).toEqual([{ count: "three", more: null }]);
  });

  test.each(["coerce", "strict"] as const)("%s accepts null if it is the schema's own default", async (mode) => {
    const { seen, harness } = configured(mode);
    expect(await harness.call("t", { count: 1, note: null })).toMatchObject({ ok: true });
    expect(seen).toEqual([{ count: 1, note: null, unit: "c" }]);
    expect(await harness.call("t", { count: null, note: null })).toMatchObject({ kind: "invalid_params" });
  });
});
