// Texts designed to slow a regular expression: the time grows with their length, not with its square.
import { expect, test } from "vitest";
import { parseGnn } from "../../packages/gnn/src/language/parse.ts";
import { readHtml } from "../../packages/library/src/documents/read-html.ts";
import { parseBytes } from "../../packages/toolyard/src/core/text/bytes.ts";
import { cpuMs } from "../fixtures/cpu-time.ts";
import { openTarget, openUpstream, tool } from "./attack.ts";

/** Time limit far above linear time on a slow machine, and far below quadratic time for these lengths. */
const BOUND_MS = 2_500;

function cpuOf(work: () => unknown): number {
  const startedAt = cpuMs();
  try {
    work();
  } catch {
    // Most of these texts are refused, which must be fast as well.
  }
  return cpuMs() - startedAt;
}

test("S18: refuses a GET with long runs of digits as numbers in linear time", async () => {
  const inputSchema = { type: "object", properties: { n: { type: "number" } } };
  await using upstream = await openUpstream({
    tools: [tool("t", { inputSchema, annotations: { readOnlyHint: true } })],
  });
  await using target = await openTarget({
    mcp: { remote_servers: [{ namespace: "up", url: upstream.url }] },
    rest: { routes: { "GET /count": "up__t" } },
  });
  await target.hub.list();
  const startedAt = cpuMs();
  for (const value of ["1".repeat(15_000), `${"1".repeat(14_000)}.${"2".repeat(900)}`, `1e${"1".repeat(15_000)}`])
    for (let round = 0; round < 5; round += 1) {
      const { status } = await target.send({ method: "GET", path: `/count?n=${value}x` });
      expect(status).toBeGreaterThanOrEqual(400);
    }
  expect(cpuMs() - startedAt).toBeLessThan(BOUND_MS);
});

const LONG = 100_000;

test.each<readonly [string, () => unknown]>([
  ["a front matter of digits", () => parseGnn(`---\na: ${"1".repeat(LONG)}x\n---\n## GNNSection\nM\n`)],
  ["a front matter key with blanks", () => parseGnn(`---\na:${" ".repeat(LONG)}\u2028\n---\n## GNNSection\nM\n`)],
  ["a front matter item with blanks", () => parseGnn(`---\na:\n-${" ".repeat(LONG)}\u2028\n---\n## GNNSection\nM\n`)],
  ["a parameter of digits", () => parseGnn(`## ModelParameters\nn: ${"1".repeat(LONG)}x\n`)],
  ["a size with blanks", () => parseBytes(`1${" ".repeat(LONG)}x`)],
])("S18: reads %s in linear time", (_name, read) => {
  expect(cpuOf(read)).toBeLessThan(BOUND_MS);
});

test("S18: reads preformatted text of blanks in linear time", async () => {
  const startedAt = cpuMs();
  await readHtml(Buffer.from(`<pre>a${" ".repeat(LONG)}b</pre>`), { isForced: false } as never);
  expect(cpuMs() - startedAt).toBeLessThan(BOUND_MS);
});
