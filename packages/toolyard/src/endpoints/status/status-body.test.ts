import { expect, test } from "vitest";
import type { SourceReport } from "../../core/ports/hub-port.ts";
import { Redactor } from "../../telemetry/redactor.ts";
import { statusJson } from "./status-body.ts";

test.each([
  ["a quotation mark inside", 'token="hunter22secret"', "token="],
  ["a quotation mark behind", 'docker run -e "API_KEY=hunter22secret" image', "docker run"],
  ["a backslash behind", String.raw`password=hunter22secret\ in C:\config`, "password="],
])("the body is valid JSON without a secret that has %s", async (_what, lastError, shown) => {
  const redactor = new Redactor();
  const report = { source: { id: "s", kind: "stdio" }, status: { state: "down", lastError }, problems: [] };
  const body = await statusJson({
    hub: { sources: () => [report as unknown as SourceReport] },
    startedAt: new Date(),
    redactFacts: (facts) => redactor.facts(facts),
    profiles: { all: [] },
    getHub: () => ({}) as never,
    hubControl: () => ({ problem: undefined }),
  });
  expect(JSON.parse(body)).toMatchObject({
    sources: [{ id: "s", state: "down", lastError: expect.stringContaining(shown) }],
  });
  expect(body).not.toContain("hunter22secret");
});

test("the body has the reason why a changed configuration was not applied, without secrets", async () => {
  const body = await statusJson({
    hub: { sources: () => [] },
    startedAt: new Date(),
    redactFacts: (facts) => new Redactor().facts(facts),
    profiles: { all: [] },
    getHub: () => ({}) as never,
    hubControl: () => ({ problem: "Unknown option `prot`, near token=hunter22secret" }),
  });
  expect(JSON.parse(body)).toMatchObject({ configurationProblem: expect.stringContaining("Unknown option `prot`") });
  expect(body).not.toContain("hunter22secret");
});
