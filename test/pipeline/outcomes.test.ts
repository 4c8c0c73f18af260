import { expect, test } from "vitest";
import { FailError } from "../../src/core/errors.ts";
import { fail, ok, type Outcome } from "../../src/core/outcome.ts";
import { supposedName } from "../../src/core/rights.ts";
import { createHarness, never, providerFrom, text, toolFrom, type Handler, type ToolOptions } from "./harness.ts";

const hello: Handler = () => text("hello");

function one(handler: Handler, options?: ToolOptions): ReturnType<typeof createHarness> {
  return createHarness({ t: toolFrom("t", handler, options) });
}

test("a good result passes as the same object", async () => {
  const result = {
    content: [{ type: "text", text: "hi", unknown: 1 }],
    structuredContent: { a: 1 },
    _meta: { x: 1 },
    more: true,
  };
  const outcome = await one(() => ok(result)).call("t");
  expect(outcome.ok && outcome.result).toBe(result);
});

test("C9: an unknown name is told apart from a tool that fails", async () => {
  const harness = one(hello);
  expect(await harness.call("nope")).toMatchObject({ ok: false, kind: "unknown_tool", details: { near: [] } });
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

test("a name that several answer to is ambiguous, with the candidates", async () => {
  const failure = fail("ambiguous", "Several tools answer.", { details: { candidates: ["a__t", "b__t"] } });
  const harness = createHarness({}, { deps: { resolve: () => ({ found: false, failure }) } });
  expect(await harness.call("t")).toBe(failure);
});

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

test("S15: rights allow, deny and keep to what is read-only", async () => {
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

test("a discovery tool is open to whoever may call anything at all, unless it is denied by name", async () => {
  const harness = createHarness({ s: toolFrom("tool_search", hello, { kind: "builtin", role: "discovery" }) });
  expect(
    await harness.call("s", {}, { principal: { id: "p", rights: { allow: ["x"], readOnly: true } } }),
  ).toMatchObject({ ok: true });
  expect(await harness.call("s", {}, { principal: { id: "p", rights: { deny: ["*tool_search"] } } })).toMatchObject({
    kind: "denied",
  });
});

test("S15: what destroys wants a confirmation, which the tool does not see", async () => {
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

test("C8: a tool that says it failed is a tool_error, its result kept untouched", async () => {
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
])("%s is malformed", async (_, result) => {
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
])("%s is completed", async (_, result, complete) => {
  expect(await one(() => ok(result)).call("t")).toEqual({ ok: true, result: complete });
});

test("an unfinished result goes to a caller that relays it", async () => {
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
] as const)("%s has a shape of its own", async (method, target, good) => {
  let result: object = good;
  const source = { id: "files", kind: "stdio" as const, namespace: "files", order: 0 };
  const found = {
    found: true as const,
    name: "x",
    subject: supposedName("", "x", "__"),
    target: target as never,
    provider: providerFrom(source, () => ok(result as never)),
  };
  const harness = createHarness({ x: found });
  expect(await harness.call("x", {}, { method })).toMatchObject({ ok: true });
  result = { content: [] };
  expect(await harness.call("x", {}, { method })).toMatchObject({ kind: "malformed" });
});

test("a result over its size is too_large, whether it is good or an error", async () => {
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

test("a result that is nested without end is malformed", async () => {
  const deep = JSON.parse("[".repeat(20_000) + "]".repeat(20_000)) as unknown;
  expect(await one(() => ok({ content: [], deep })).call("t")).toMatchObject({
    kind: "malformed",
    message: expect.stringContaining("nested"),
  });
});

test("field 2.9: structured content that does not fit is passed on and told, or refused if wanted", async () => {
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

test("field 2.9: an error is never held against the output schema", async () => {
  const tool = toolFrom("t", () => ok({ content: [{ type: "text", text: "broken" }], isError: true }), {
    outputSchema: { type: "object", required: ["n"] },
  });
  expect(await createHarness({ t: tool }, { limits: { output_validation: "strict" } }).call("t")).toMatchObject({
    kind: "tool_error",
    message: "broken",
  });
});

test("defaults of an output schema are not written into results", async () => {
  const result = { content: [], structuredContent: {} };
  const tool = toolFrom("t", () => ok(result), { outputSchema: { type: "object", properties: { n: { default: 1 } } } });
  await createHarness({ t: tool }, { limits: { output_validation: "strict" } }).call("t");
  expect(result).toEqual({ content: [], structuredContent: {} });
});

test.each(["needs_authorisation", "limited", "unavailable", "invalid_params", "too_large"] as const)(
  "a provider's %s reaches the caller as it is",
  async (kind) => {
    const failure = fail(kind, "why", { rpcError: { code: -32001, message: "why", data: 1 }, details: { sent: true } });
    expect(await one(() => failure).call("t")).toEqual(failure);
  },
);

test("a thrown failure is that failure", async () => {
  const failure = fail("needs_authorisation", "Sign in.", { details: { signIn: "https://example.com" } });
  expect(
    await one(() => {
      throw new FailError(failure);
    }).call("t"),
  ).toBe(failure);
});

test("S13: a fault of our own says nothing but its id; the log has the rest", async () => {
  const harness = one(() => {
    throw new Error("secret path /home/x");
  });
  const outcome = await harness.call("t");
  expect(outcome).toMatchObject({ kind: "internal", message: expect.stringMatching(/under the id call-\d+\.$/) });
  expect(!outcome.ok && outcome.message).not.toContain("secret");
  expect(harness.log.find(({ level }) => level === "error")?.facts).toMatchObject({
    kind: "internal",
    cause: expect.objectContaining({ message: "secret path /home/x" }),
  });
});

test("S13: a resolver or an audit that breaks does not break the answer", async () => {
  const broken = createHarness({}, { deps: { resolve: () => Promise.reject(new Error("bug")) } });
  expect(await broken.call("t")).toMatchObject({ kind: "internal" });
  expect(broken.audit).toHaveLength(1);
  const audit = {
    write: () => {
      throw new Error("disk full");
    },
  };
  const unrecorded = createHarness({ t: toolFrom("t", hello) }, { deps: { audit } });
  expect(await unrecorded.call("t")).toMatchObject({ ok: true });
  expect(unrecorded.log.some(({ level, message }) => level === "error" && message.includes("audit"))).toBe(true);
});

test("a caller that goes is answered at once, although the provider does not heed it", async () => {
  const controller = new AbortController();
  const harness = one(() => {
    queueMicrotask(() => controller.abort());
    return never();
  });
  expect(await harness.call("t", {}, { signal: controller.signal })).toMatchObject({ kind: "cancelled" });
});

test("a caller that is gone already is not worked for", async () => {
  let calls = 0;
  const harness = one(() => {
    calls += 1;
    return text("ran");
  });
  expect(await harness.call("t", {}, { signal: AbortSignal.abort() })).toMatchObject({ kind: "cancelled" });
  expect([calls, harness.audit.length]).toEqual([0, 1]);
});

test("a provider's late fault disturbs nobody", async () => {
  const controller = new AbortController();
  let rejectLate!: (error: Error) => void;
  const harness = one(() => {
    queueMicrotask(() => controller.abort());
    return new Promise((_, reject) => {
      rejectLate = reject;
    });
  });
  expect(await harness.call("t", {}, { signal: controller.signal })).toMatchObject({ kind: "cancelled" });
  rejectLate(new Error("late"));
  await new Promise((resolve) => void setImmediate(resolve));
});
