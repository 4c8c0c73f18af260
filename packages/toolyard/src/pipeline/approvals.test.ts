import { describe, expect, test } from "vitest";
import { createHarness, text, toolFrom, type Harness } from "../../../../test/support/pipeline.ts";
import type { Call } from "../core/calls/call.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { Audit, HubEvent } from "../core/ports/audit.ts";
import type { LimitsConfig } from "./options.ts";

const DESTRUCTIVE = { definition: { annotations: { destructiveHint: true } } };
const FORM = { method: "elicitation/create", params: { message: "Delete?" } };

interface Bench {
  readonly harness: Harness;
  readonly events: HubEvent[];
}

function bench({ limits = {}, audit = {} }: { limits?: LimitsConfig; audit?: Partial<Audit> } = {}): Bench {
  const events: HubEvent[] = [];
  const targets = {
    rm: toolFrom("rm", () => text("gone"), DESTRUCTIVE),
    ls: toolFrom("ls", () => text("all")),
    execute: toolFrom("execute", () => text("done"), { kind: "builtin" }),
    form: toolFrom("form", async (call) => text(JSON.stringify(await call.ask(FORM)))),
    sample: toolFrom("sample", async (call) => text(JSON.stringify(await call.ask({ ...FORM, method: "roots/list" })))),
    // The inner call sends its request through the outer one, as inner calls do.
    outer: toolFrom("outer", async (call) => {
      const inner = { ask: (ask: typeof FORM) => call.ask(ask), parent: call.id };
      return (await harness.call("form", {}, inner)) as never;
    }),
  };
  const deps = { audit: { write: () => {}, record: (event: HubEvent) => void events.push(event), ...audit } };
  const harness = createHarness(targets, { limits, deps });
  return { harness, events };
}

const answering = (answer: JsonObject): Partial<Call> => ({ ask: () => Promise.resolve(answer) });
const decisions = (events: readonly HubEvent[]): unknown[] =>
  events.map(({ event, action, decision, kind, target }) => [event, action, decision, kind, target]);

describe("consent", () => {
  const limits = { confirm_destructive: true };

  test("is recorded with the caller, the tool and the call", async () => {
    const { harness, events } = bench({ limits });
    const principal = { id: "ann", rights: {}, identity: { issuer: "https://id" }, profile: { name: "work" } } as never;
    await harness.call("rm", { confirm: true }, { principal, client: { name: "claude", capabilities: {} } });
    expect(events).toEqual([
      {
        event: "approval",
        action: "call",
        decision: "approved",
        call: expect.stringMatching(/^call-/),
        endpoint: "test",
        profile: "work",
        principal: "ann",
        client: "claude",
        issuer: "https://id",
        target: "files__rm",
        source: "files",
        kind: "ok",
      },
    ]);
  });

  test.each([
    ["of a destructive call without consent", "rm", {}],
    ["of a call that needs no consent", "ls", { confirm: true }],
  ])("is not recorded %s", async (_title, tool, args) => {
    const { harness, events } = bench({ limits });
    await harness.call(tool, args);
    expect(events).toEqual([]);
  });

  test("is not recorded if the hub requires none", async () => {
    const { harness, events } = bench();
    await harness.call("rm", { confirm: true });
    expect(events).toEqual([]);
  });
});

describe("an answer to an elicitation", () => {
  test.each([
    ["accept", "approved", "ok"],
    ["decline", "refused", "denied"],
    ["cancel", "refused", "cancelled"],
  ])("with the action %s is recorded as %s, without its content", async (action, decision, kind) => {
    const { harness, events } = bench();
    const answer = { action, content: { pin: "canary" } };
    expect(await harness.call("form", {}, answering(answer))).toMatchObject({ ok: true });
    expect(decisions(events)).toEqual([["approval", "answer", decision, kind, "files__form"]]);
    expect(JSON.stringify(events)).not.toContain("canary");
  });

  test.each([
    ["an unknown action", "form", { action: "later" }],
    ["no action", "form", {}],
    ["another method", "sample", { action: "accept" }],
  ])("with %s is not recorded", async (_title, tool, answer) => {
    const { harness, events } = bench();
    await harness.call(tool, {}, answering(answer));
    expect(events).toEqual([]);
  });

  test("of an inner call is recorded once, for the inner call, each time", async () => {
    const { harness, events } = bench();
    for (let index = 0; index < 2; index += 1) await harness.call("outer", {}, answering({ action: "accept" }));
    expect(decisions(events)).toEqual(Array(2).fill(["approval", "answer", "approved", "ok", "files__form"]));
  });

  test("that fails is not recorded, and a later answer to the same request is", async () => {
    const { harness, events } = bench();
    await harness.call("form", {}, { ask: () => Promise.reject(new Error("gone")) });
    expect(events).toEqual([]);
    await harness.call("form", {}, answering({ action: "decline" }));
    expect(events).toHaveLength(1);
  });

  test("in a repeated call is recorded if its endpoint passes it on, except for the hub's own tools", async () => {
    const { harness, events } = bench();
    const params = { inputResponses: { a: { action: "accept" }, b: { action: "decline" }, c: { role: "user" }, d: 1 } };
    await harness.call("ls", {}, { relaysInput: true, params });
    expect(decisions(events)).toEqual([
      ["approval", "answer", "approved", "ok", "files__ls"],
      ["approval", "answer", "refused", "denied", "files__ls"],
    ]);
    await harness.call("ls", {}, { params });
    await harness.call("execute", {}, { relaysInput: true, params });
    await harness.call("ls", {}, { relaysInput: true, params: { inputResponses: "none" } });
    expect(events).toHaveLength(2);
  });
});

test("an audit that throws does not change the outcome, and the fault is logged", async () => {
  const { harness } = bench({ audit: { record: () => expect.fail("full") } });
  expect(await harness.call("form", {}, answering({ action: "accept" }))).toMatchObject({ ok: true });
  expect(harness.log.map(({ message }) => message)).toContain("The audit line of an approval could not be written.");
});

test("a hub without an audit records nothing", async () => {
  const { harness, events } = bench({ audit: { isSilent: true }, limits: { confirm_destructive: true } });
  await harness.call("rm", { confirm: true });
  await harness.call("form", {}, answering({ action: "accept" }));
  expect(events).toEqual([]);
});
