import { describe, expect, test } from "vitest";
import { fail, type Outcome } from "../core/calls/outcome.ts";
import { createHarness, never, providerFrom, text, toolFrom, type Handler } from "../../../../test/support/pipeline.ts";

const REPORT = { message: "The planet is away", text: '{"error":"The planet is away"}', fit: () => 0 };
const limits = { breaker: { failures: 2 }, retries: { attempts: 1 } };

/** Returns a pipeline with a tool of a source with an outage report. */
function harnessFor(handler: Handler): ReturnType<typeof createHarness> {
  const found = toolFrom("t", handler, { kind: "http" });
  return createHarness(
    {
      t: {
        ...found,
        provider: providerFrom({ ...found.provider.source, outage: REPORT }, handler),
      },
    },
    { limits: { ...limits, call_timeout: "1s" } },
  );
}

describe("a source with an outage report", () => {
  test.each<[string, Handler]>([
    ["unavailable", () => fail("unavailable", "connect ECONNREFUSED")],
    ["malformed", () => fail("malformed", "no JSON")],
    ["timeout", never],
  ])("M5: returns the report for %s, and logs the original failure", async (kind, handler) => {
    const harness = harnessFor(handler);
    const outcome = await harness.call("t");
    expect(outcome).toMatchObject({
      ok: false,
      kind,
      message: REPORT.message,
      result: { isError: true, content: [{ type: "text", text: REPORT.text }] },
    });
    expect(harness.log.at(-1)!.facts["reason"]).not.toBe(REPORT.message);
  });

  test("M4: returns the report while the circuit is open, with the time of the next attempt", async () => {
    const harness = harnessFor(() => fail("unavailable", "gone", { retryable: false }));
    const outcomes: Outcome[] = [];
    for (let index = 0; index < 3; index += 1) outcomes.push(await harness.call("t"));
    expect(outcomes[2]).toMatchObject({
      message: REPORT.message,
      retryAfterMs: expect.any(Number),
      details: { breaker: "open" },
    });
  });

  test("M4: returns answers of the server and failures of the caller unchanged", async () => {
    const own = fail("tool_error", "No such place.", { result: { content: [], isError: true } });
    expect(await harnessFor(() => own).call("t")).toBe(own);
    expect(await harnessFor(() => text("x")).call("t")).toEqual(text("x"));
    expect(await harnessFor(never).call("t", {}, { signal: AbortSignal.abort() })).toMatchObject({
      kind: "cancelled",
      message: expect.not.stringContaining("planet"),
    });
  });
});

test("M4: returns the hub's message for a source without a report", async () => {
  expect(
    await createHarness({ t: toolFrom("t", () => fail("unavailable", "files is not there.")) }, { limits }).call("t"),
  ).toEqual(fail("unavailable", "files is not there."));
});
