// A call of an hour against a real server, on a simulated clock: the hub's timers are simulated, its pipes are real.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub, type CallNotification, type Outcome } from "../../packages/toolyard/src/index.ts";
import { legacyServer } from "./fault-hub.ts";

const MINUTE_MS = 60_000;
/** Less than the limit of a call without progress, which is a minute. */
const STEP_MS = 50_000;

let hub: LibraryHub;
let home: string;

async function open(): Promise<void> {
  home = await mkdtemp(join(tmpdir(), "toolyard-long-call-"));
  hub = await createHub({
    settings: { mcp: { stdio_servers: { bad: { command: legacyServer() }, good: { command: legacyServer() } } } },
    variables: { PATH: process.env["PATH"], TOOLYARD_HOME: home },
    logger: SILENT_LOGGER,
  });
  // Both servers start before the clock moves; otherwise their start would reach its time limit.
  expect(await hub.call("bad__pid")).toMatchObject({ ok: true });
  expect(await hub.call("good__pid")).toMatchObject({ ok: true });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
}

afterEach(async () => {
  vi.useRealTimers();
  await hub.close();
  await rm(home, { recursive: true, force: true });
});

interface LongCall {
  readonly outcome: Promise<Outcome>;
  readonly notifications: readonly CallNotification[];
  /** Moves the clock and makes the server report progress, as long as the call runs. */
  lastFor(totalMs: number): Promise<void>;
}

function begin(): LongCall {
  const notifications: CallNotification[] = [];
  const state = { isOver: false, wake: (): void => {} };
  const onNotice = (notification: CallNotification): void => {
    notifications.push(notification);
    state.wake();
  };
  const outcome = hub.call("bad__hold", {}, { onNotice }).finally(() => {
    state.isOver = true;
    state.wake();
  });
  return {
    outcome,
    notifications,
    lastFor: async (totalMs) => {
      for (let passedMs = 0; passedMs < totalMs && !state.isOver; passedMs += STEP_MS) {
        const told = new Promise<void>((resolve) => (state.wake = resolve));
        await hub.call("bad__step");
        await told;
        if (!state.isOver) await vi.advanceTimersByTimeAsync(STEP_MS);
      }
    },
  };
}

async function expectRestUndisturbed(): Promise<void> {
  expect(await hub.call("good__pid")).toMatchObject({ ok: true });
}

test("answers a call of 59 minutes with progress, and passes on every progress notification", async () => {
  await open();
  const call = begin();
  await call.lastFor(59 * MINUTE_MS);
  await expectRestUndisturbed();
  expect(await hub.call("bad__finish")).toMatchObject({ ok: true });
  expect(await call.outcome).toMatchObject({ ok: true, result: { content: [{ text: "held to the end" }] } });
  const steps = call.notifications.map(({ params }) => params["progress"]);
  expect(steps.length).toBeGreaterThan(60);
  expect(steps).toEqual(steps.map((_, at) => at + 1));
});

test("a call with progress ends at the total limit of an hour", async () => {
  await open();
  const call = begin();
  await call.lastFor(62 * MINUTE_MS);
  expect(await call.outcome).toMatchObject({ ok: false, kind: "timeout", message: expect.stringContaining("3600 s") });
  await expectRestUndisturbed();
  expect(await hub.call("bad__pid")).toMatchObject({ ok: true });
});

test("a call without progress ends a minute after its last progress", async () => {
  await open();
  const call = begin();
  await call.lastFor(10 * MINUTE_MS);
  await vi.advanceTimersByTimeAsync(MINUTE_MS + 1);
  expect(await call.outcome).toMatchObject({ ok: false, kind: "timeout", message: expect.stringContaining("60 s") });
  await expectRestUndisturbed();
});
