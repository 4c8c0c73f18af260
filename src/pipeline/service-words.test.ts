import { describe, expect, test } from "vitest";
import { fail, type Outcome } from "../core/outcome.ts";
import { createHarness, never, providerFrom, text, toolFrom, type Handler } from "../../test/support/pipeline.ts";

const WORDS = "Weather MCP unavailable on port 50053";
const limits = { breaker: { failures: 2 }, retries: { attempts: 1 } };

/** A tool of a server that is called `Weather MCP`. */
function harnessFor(handler: Handler): ReturnType<typeof createHarness> {
  const found = toolFrom("t", handler, { kind: "http" });
  return createHarness(
    {
      t: {
        ...found,
        provider: providerFrom({ ...found.provider.source, service: { name: "Weather MCP", port: 50_053 } }, handler),
      },
    },
    { limits: { ...limits, call_timeout: "1s" } },
  );
}

describe("a server with a name of its own", () => {
  test.each<[string, Handler]>([
    ["unavailable", () => fail("unavailable", "connect ECONNREFUSED")],
    ["malformed", () => fail("malformed", "no JSON")],
    ["timeout", never],
  ])("M5: %s is the document's object, and the log has what it was", async (kind, handler) => {
    const harness = harnessFor(handler);
    const outcome = await harness.call("t");
    expect(outcome).toMatchObject({
      ok: false,
      kind,
      message: WORDS,
      result: { isError: true, content: [{ type: "text", text: JSON.stringify({ error: WORDS }) }] },
    });
    expect(harness.log.at(-1)!.facts["reason"]).not.toBe(WORDS);
  });

  test("M4: the same while it is left alone, with the time after which it is tried again", async () => {
    const harness = harnessFor(() => fail("unavailable", "gone", { retryable: false }));
    const outcomes: Outcome[] = [];
    for (let index = 0; index < 3; index += 1) outcomes.push(await harness.call("t"));
    expect(outcomes[2]).toMatchObject({
      message: WORDS,
      retryAfterMs: expect.any(Number),
      details: { breaker: "open" },
    });
  });

  test("M4: what it says itself passes as it came, and so does what is the caller's doing", async () => {
    const own = fail("tool_error", "No such place.", { result: { content: [], isError: true } });
    expect(await harnessFor(() => own).call("t")).toBe(own);
    expect(await harnessFor(() => text("x")).call("t")).toEqual(text("x"));
    expect(await harnessFor(never).call("t", {}, { signal: AbortSignal.abort() })).toMatchObject({
      kind: "cancelled",
      message: expect.not.stringContaining("Weather"),
    });
  });
});

test("M4: a server without one is told in the hub's words", async () => {
  expect(
    await createHarness({ t: toolFrom("t", () => fail("unavailable", "files is not there.")) }, { limits }).call("t"),
  ).toEqual(fail("unavailable", "files is not there."));
});
