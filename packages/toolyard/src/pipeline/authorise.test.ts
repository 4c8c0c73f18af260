import { expect, test } from "vitest";
import { createHarness, text, toolFrom, type Handler } from "../../../../test/support/pipeline.ts";

const hello: Handler = () => text("hello");

test("S15: rights allow, deny and restrict to read-only tools", async () => {
  const harness = createHarness({
    t: toolFrom("t", hello),
    r: toolFrom("r", hello, { definition: { annotations: { readOnlyHint: true } } }),
  });
  const kindFor = async (target: string, rights: object): Promise<string> => {
    const outcome = await harness.call(target, {}, { principal: { id: "p", rights } });
    return outcome.ok ? "ok" : outcome.kind;
  };
  expect(await kindFor("t", { allow: ["files__*"] })).toBe("ok");
  expect(await kindFor("t", { allow: ["other__*"] })).toBe("denied");
  expect(await kindFor("t", { allow: ["*"], deny: ["*__t"] })).toBe("denied");
  expect(await kindFor("t", { readOnly: true })).toBe("denied");
  expect(await kindFor("r", { readOnly: true })).toBe("ok");
});

test("every caller with any right may use a discovery tool, unless it is denied by name", async () => {
  const harness = createHarness({ s: toolFrom("tool_search", hello, { kind: "builtin", role: "discovery" }) });
  expect(
    await harness.call("s", {}, { principal: { id: "p", rights: { allow: ["x"], readOnly: true } } }),
  ).toMatchObject({ ok: true });
  expect(await harness.call("s", {}, { principal: { id: "p", rights: { deny: ["*tool_search"] } } })).toMatchObject({
    kind: "denied",
  });
});

test("S15: a destructive tool requires a confirmation, which the tool does not receive", async () => {
  const seen: unknown[] = [];
  const tool = toolFrom(
    "rm",
    (call) => {
      seen.push(call.arguments);
      return text("gone");
    },
    {
      inputSchema: { type: "object", properties: { path: {} }, additionalProperties: false },
      definition: { annotations: { destructiveHint: true } },
    },
  );
  const careful = createHarness({ rm: tool }, { limits: { confirm_destructive: true } });
  expect(await careful.call("rm", { path: "/x" })).toMatchObject({
    kind: "denied",
    message: expect.stringContaining("confirm: true"),
  });
  expect(await careful.call("rm", { path: "/x", confirm: true })).toMatchObject({ ok: true });
  expect(await careful.call("rm", { path: "/x" }, { meta: { "toolyard/confirm": true } })).toMatchObject({ ok: true });
  expect(seen).toEqual([{ path: "/x" }, { path: "/x" }]);
  expect(await createHarness({ rm: tool }).call("rm", { path: "/x" })).toMatchObject({ ok: true });
});

test("passes on an argument `confirm` if the tool's schema has it", async () => {
  const seen: unknown[] = [];
  const tool = toolFrom(
    "rm",
    (call) => {
      seen.push(call.arguments);
      return text("gone");
    },
    {
      inputSchema: { type: "object", properties: { confirm: { type: "boolean" } } },
      definition: { annotations: { destructiveHint: true } },
    },
  );
  const careful = createHarness({ rm: tool }, { limits: { confirm_destructive: true } });
  expect(await careful.call("rm", { confirm: false })).toMatchObject({ kind: "denied" });
  expect(await careful.call("rm", { confirm: true })).toMatchObject({ ok: true });
  expect(seen).toEqual([{ confirm: true }]);
});

test("reveals nothing about the arguments to a caller without the right", async () => {
  const harness = createHarness({ t: toolFrom("t", hello, { inputSchema: { type: "object", required: ["city"] } }) });
  const guest = { principal: { id: "p", rights: { deny: ["*"] } } };
  expect(await harness.call("t", {}, guest)).toMatchObject({ kind: "denied" });
  expect(await harness.call("t", {})).toMatchObject({ kind: "invalid_params" });
});
