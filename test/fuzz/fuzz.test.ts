// Thousands of malformed requests from a seed to every endpoint of a whole hub: each gets one answer, the hub does not
// crash or leak, and continues to serve.
import { expect, test } from "vitest";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { ServeChild, type MemoryReport } from "../support/serve-child.ts";
import { FUZZ_CONFIG } from "./fuzz-config.ts";
import { HttpDriver } from "./http-driver.ts";
import { SseDriver, StdioDriver } from "./stream-driver.ts";

/** Number of cases for all endpoints together. */
const CASES = Number(process.env["TOOLYARD_FUZZ_CASES"] ?? 5000);
const SEED = Number(process.env["TOOLYARD_FUZZ_SEED"] ?? 20_260_728);
/** Difference of the heap size between two moments after equal work. */
const HEAP_NOISE_BYTES = 6_000_000;
const TIMEOUT_MS = 60_000 + CASES * 20;

function expectNoGrowth(before: MemoryReport, after: MemoryReport): void {
  expect(after.heapUsed - before.heapUsed).toBeLessThan(HEAP_NOISE_BYTES);
  expect(after.resources - before.resources).toBeLessThan(12);
}

/** Faults of the hub itself. An exception of a module is not one, and one module here throws. */
const faultsOf = (served: ServeChild): unknown[] =>
  served.log.lines.filter(({ level, facts }) => level === "error" && facts["source"] !== "modules");

async function expectServes(served: ServeChild): Promise<void> {
  for (const era of ["legacy", "modern"] as const) {
    await using client = await RawClient.open(new HttpWire(served.url, era), { era });
    expect(await client.tool("echo", { text: "still here" })).toMatchObject({
      structuredContent: { text: "still here" },
    });
    expect(await client.tool("up__pid")).not.toHaveProperty("isError", true);
  }
  expect(faultsOf(served)).toEqual([]);
}

test(
  `Streamable HTTP, both eras: answers ${Math.ceil(CASES * 0.4)} malformed requests, and leaks no memory`,
  { timeout: TIMEOUT_MS },
  async () => {
    await using served = await ServeChild.start({ config: FUZZ_CONFIG, reportsMemory: true });
    const driver = new HttpDriver(served.url);
    await driver.run(Math.ceil(CASES * 0.2), SEED);
    const before = await served.memory();
    await driver.run(Math.ceil(CASES * 0.2), SEED + 1_000_000);
    expectNoGrowth(before, await served.memory());
    driver.close();
    await expectServes(served);
  },
);

test(
  `HTTP+SSE: answers ${Math.ceil(CASES * 0.2)} malformed requests, and leaks no memory`,
  { timeout: TIMEOUT_MS },
  async () => {
    await using served = await ServeChild.start({ config: FUZZ_CONFIG, reportsMemory: true });
    const driver = new SseDriver(served.url);
    await driver.open();
    await driver.run(Math.ceil(CASES * 0.1), SEED + 2_000_000);
    const before = await served.memory();
    await driver.run(Math.ceil(CASES * 0.1), SEED + 3_000_000);
    expectNoGrowth(before, await served.memory());
    driver.close();
    await expectServes(served);
  },
);

test(
  `stdio, both eras: answers ${Math.ceil(CASES * 0.4)} malformed lines, and leaks no memory`,
  { timeout: TIMEOUT_MS },
  async () => {
    await using served = await ServeChild.start({ config: FUZZ_CONFIG, endpoint: "stdio", reportsMemory: true });
    const driver = new StdioDriver(served);
    await driver.run(Math.ceil(CASES * 0.2), SEED + 4_000_000);
    const before = await served.memory();
    await driver.run(Math.ceil(CASES * 0.2), SEED + 5_000_000);
    expectNoGrowth(before, await served.memory());
    served.stdin.end();
    expect(await served.exited).toEqual({ code: 0, signal: null });
    expect(faultsOf(served)).toEqual([]);
  },
);
