import { expect, test } from "vitest";
import { fail } from "../core/calls/outcome.ts";
import { createHarness, text, toolFrom, type Handler } from "../../../../test/support/pipeline.ts";

const hello: Handler = () => text("hello");

test("C9: distinguishes an unknown name from a tool that fails", async () => {
  const harness = createHarness({ t: toolFrom("t", hello) });
  expect(await harness.call("nope")).toMatchObject({ ok: false, kind: "unknown_tool", details: { near: [] } });
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

test("a name that several tools have is ambiguous, and the failure names the candidates", async () => {
  const failure = fail("ambiguous", "Several tools answer.", { details: { candidates: ["a__t", "b__t"] } });
  const harness = createHarness({}, { deps: { resolve: () => ({ found: false, failure }) } });
  expect(await harness.call("t")).toBe(failure);
});

test("waits for sources that must be listed first, and calls the tool that was found", async () => {
  const found = toolFrom("t", hello);
  const harness = createHarness({}, { deps: { resolve: async () => found } });
  expect(await harness.call("t")).toMatchObject({ ok: true });
});

test("answers a caller that disconnects during the lookup immediately", async () => {
  const controller = new AbortController();
  const resolve = (): Promise<never> => {
    queueMicrotask(() => controller.abort());
    return new Promise(() => {});
  };
  const harness = createHarness({}, { deps: { resolve } });
  expect(await harness.call("t", {}, { signal: controller.signal })).toMatchObject({ kind: "cancelled" });
  expect(harness.audit).toMatchObject([{ kind: "cancelled", target: "t", attempts: 0 }]);
});

test("the log line has the resolved name and its source, or the caller's own name if it did not resolve", async () => {
  const harness = createHarness({ t: toolFrom("t", hello) });
  await harness.call("t");
  await harness.call("nope");
  expect(harness.audit).toMatchObject([{ target: "files__t", source: "files" }, { target: "nope" }]);
  expect(harness.audit[1]?.source).toBeUndefined();
});
