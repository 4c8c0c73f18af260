import { EVERYTHING } from "../core/ports/rights.ts";
import { expect, onTestFinished, test } from "vitest";
import { KINDS, type FailKind, type KindRow } from "../core/calls/kinds.ts";
import { fail, ok } from "../core/calls/outcome.ts";
import { processActivity } from "../core/process-activity.ts";
import { createHarness, text, toolFrom, type Handler } from "../../../../test/support/pipeline.ts";

const SECRET = "hunter2-very-secret";

test("writes one log line for every call, also when it is refused, without any value", async () => {
  const harness = createHarness(
    {
      t: toolFrom("t", () => text(SECRET)),
      strict: toolFrom("strict", () => text("x"), {
        inputSchema: { type: "object", required: ["a"], additionalProperties: false },
      }),
      bad: toolFrom("bad", () => ok({ content: [{ type: "text", text: SECRET }], isError: true })),
      down: toolFrom("down", () => fail("unavailable", "gone", { details: { sent: true }, retryable: false })),
      throws: toolFrom("throws", () => {
        throw new Error(SECRET);
      }),
    },
    { limits: { in_flight: 0, rate_per_minute: 0 } },
  );
  for (const target of ["t", "strict", "bad", "down", "throws", "nope"])
    await harness.call(target, { password: SECRET });
  expect(harness.audit.map(({ target, kind, attempts }) => [target, kind, attempts])).toEqual([
    ["files__t", "ok", 1],
    ["files__strict", "invalid_params", 0],
    ["files__bad", "tool_error", 1],
    ["files__down", "unavailable", 1],
    ["files__throws", "internal", 1],
    ["nope", "unknown_tool", 0],
  ]);
  expect(JSON.stringify(harness.audit)).not.toContain(SECRET);
});

test("the line has exactly the specified members", async () => {
  const harness = createHarness({ t: toolFrom("t", () => text("hello")) });
  await harness.call("t", { a: "text" }, { principal: { id: "anna", rights: EVERYTHING } });
  expect(harness.audit[0]).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    call: expect.stringMatching(/^call-/),
    endpoint: "test",
    principal: "anna",
    who: "anna",
    method: "tools/call",
    target: "files__t",
    source: "files",
    decision: "allowed",
    credentials: "hub",
    kind: "ok",
    durationMs: expect.any(Number),
    argumentBytes: expect.closeTo(12, -1),
    resultBytes: expect.closeTo(45, -1),
    attempts: 1,
  });
});

test("a tool's result stays out of the log, also if the tool fails", async () => {
  const harness = createHarness({
    bad: toolFrom("bad", () => ok({ content: [{ type: "text", text: SECRET }], isError: true })),
  });
  await harness.call("bad", { password: SECRET });
  expect(harness.log.some(({ message }) => message === "A call failed.")).toBe(true);
  expect(JSON.stringify(harness.log)).not.toContain(SECRET);
});

test("truncates a long name in the line", async () => {
  const harness = createHarness({});
  await harness.call("x".repeat(100_000));
  expect(harness.audit[0]!.target.length).toBe(300);
});

test("G66: logs a slow call, and a quick call only at the debug level", async () => {
  const harness = createHarness({ t: toolFrom("t", () => text("x")) }, { limits: { slow_call: "1h" } });
  await harness.call("t");
  expect(harness.log.map(({ level }) => level)).toEqual(["debug"]);
  const impatient = createHarness(
    { t: toolFrom("t", () => new Promise((resolve) => void setTimeout(() => resolve(text("x")), 5))) },
    { limits: { slow_call: 1 } },
  );
  await impatient.call("t");
  expect(impatient.log.map(({ level, message }) => [level, message])).toEqual([["info", "A call was slow."]]);
});

test("S13: reveals only the id of an internal error of the hub; the log has the details", async () => {
  const fault: Handler = () => {
    throw new Error("secret path /home/x");
  };
  const harness = createHarness({ t: toolFrom("t", fault) });
  const outcome = await harness.call("t");
  expect(outcome).toMatchObject({ kind: "internal", message: expect.stringMatching(/under the id call-\d+\.$/) });
  expect(!outcome.ok && outcome.message).not.toContain("secret");
  expect(harness.log.find(({ level }) => level === "error")?.facts).toMatchObject({
    kind: "internal",
    cause: expect.objectContaining({ message: "secret path /home/x" }),
  });
});

test("S13: an exception of the resolver or the audit does not affect the answer", async () => {
  const broken = createHarness({}, { deps: { resolve: () => Promise.reject(new Error("bug")) } });
  expect(await broken.call("t")).toMatchObject({ kind: "internal" });
  expect(broken.audit).toHaveLength(1);
  const audit = {
    record: () => {},
    write: () => {
      throw new Error("disk full");
    },
  };
  const unrecorded = createHarness({ t: toolFrom("t", () => text("hello")) }, { deps: { audit } });
  expect(await unrecorded.call("t")).toMatchObject({ ok: true });
  expect(unrecorded.log.some(({ level, message }) => level === "error" && message.includes("audit"))).toBe(true);
});

test("writes no log line for a successful call that the terminal already shows, but one for a failure", async () => {
  const written = createHarness({ t: toolFrom("t", () => text("x")) }, { deps: { watch: { level: "info" } } });
  await written.call("t");
  expect(written.log.map(({ level, message }) => [level, message])).toEqual([["info", "A call is done."]]);
  const kept: string[] = [];
  const keep = (message: string): void => void kept.push(message);
  const keptLogger = { debug: keep, info: keep, warning: keep, error: keep, with: () => keptLogger };
  const shown = createHarness(
    { t: toolFrom("t", () => text("x")), down: toolFrom("down", () => fail("malformed", "noise")) },
    { deps: { keptLogger, watch: { level: "info", isUnwritten: true } } },
  );
  await shown.call("t");
  await shown.call("nope");
  await shown.call("down");
  expect(kept).toEqual(["A call is done.", "A call failed."]);
  expect(shown.log.map(({ level, message }) => [level, message])).toEqual([["warning", "A call failed."]]);
});

test.each(Object.entries<KindRow>(KINDS) as [FailKind, KindRow][])(
  "logs a failure with the code %s at the level in the table of outcome codes",
  async (kind, { log }) => {
    const harness = createHarness({ t: toolFrom("t", () => fail(kind, "It failed.", { retryable: false })) });
    await harness.call("t");
    expect(harness.log.filter(({ message }) => message === "A call failed.")).toMatchObject([
      { level: log, facts: { kind } },
    ]);
  },
);

test("counts calls that a limit refused by limit, with one count for all unknown limits", async () => {
  const before = structuredClone(processActivity);
  onTestFinished(() => void Object.assign(processActivity, before));
  processActivity.limited = { rate: 0, "in-flight": 0, full: 0, store: 0, queue: 0, other: 0 };
  const refusal = (details: object): ReturnType<typeof fail> => fail("limited", "no", { ...details, retryable: false });
  const harness = createHarness(
    {
      t: toolFrom("t", () => text("hello")),
      source: toolFrom("source", () => refusal({}), { sourceId: "one" }),
      named: toolFrom("named", () => refusal({ details: { reason: "toString" } }), { sourceId: "two" }),
      odd: toolFrom("odd", () => refusal({ details: { reason: { a: 1 } } }), { sourceId: "three" }),
      denied: toolFrom("denied", () => fail("denied", "no", { details: { reason: "rate" } })),
    },
    { limits: { rate_per_minute: 5 } },
  );
  for (const target of ["t", "source", "named", "odd", "denied", "t", "t"]) await harness.call(target);
  expect(processActivity.limited).toEqual({ rate: 2, "in-flight": 0, full: 0, store: 0, queue: 0, other: 3 });
});
