import { expect, test } from "vitest";
import { ok } from "../core/outcome.ts";
import { supposedName } from "../core/rights.ts";
import {
  createHarness,
  providerFrom,
  text,
  toolFrom,
  type Handler,
  type ToolOptions,
} from "../../test/support/pipeline.ts";

const hello: Handler = () => text("hello");

function one(handler: Handler, options?: ToolOptions): ReturnType<typeof createHarness> {
  return createHarness({ t: toolFrom("t", handler, options) });
}

test("G12, C37: arguments that do not fit never reach the provider", async () => {
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

test("C37: the provider gets arguments with defaults, the caller's object stays as it was", async () => {
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

test("field 2.9: a broken input schema is told once and breaks nothing", async () => {
  const harness = one(hello, { inputSchema: { type: "object", required: true } });
  expect(await harness.call("t", { a: 1 })).toMatchObject({ ok: true });
  await harness.call("t", { a: 1 });
  expect(harness.problems).toEqual([
    { source: "files", subject: "t", message: expect.stringContaining("input schema cannot be used") },
  ]);
});

test("what a prompt takes is its own source's to judge", async () => {
  const source = { id: "files", kind: "stdio" as const, namespace: "files", order: 0 };
  const harness = createHarness({
    p: {
      found: true,
      name: "p",
      subject: supposedName("", "p", "__"),
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
