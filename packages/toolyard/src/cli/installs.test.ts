import { PassThrough } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import type { Hub } from "../hub/hub.ts";
import { mendBroken, tellInstalls } from "./installs.ts";
import type { Io } from "./output/io.ts";

const FOLDER = "/home/ada/.npm/_npx/0123456789abcdef";

/** Creates the parts of a hub that `mendBroken` uses: its reports, and the repair of a source. */
function hubWith(sources: () => readonly object[], mend = async (_id: string): Promise<void> => {}): Hub {
  return { port: { sources }, sources: { mend } } as unknown as Hub;
}

/**
 * Runs `mendBroken` with one broken source. The user at the terminal answers `answer`; `undefined`: there is no
 * terminal. Returns the question, the output and the removed folders.
 */
async function mended(answer: boolean | undefined, options: { yes?: boolean; json?: boolean } = {}, wasMended = false) {
  const [asked, removed, stderr] = [[] as unknown[], [] as string[], new PassThrough()];
  const broken = { package: "npx torn-server", folders: [FOLDER], mended: wasMended };
  const hub = hubWith(
    () => [
      { source: { id: "well", kind: "stdio" }, status: { state: "ready" } },
      { source: { id: "torn", kind: "stdio" }, status: { state: "down", broken } },
    ],
    async (id) => void removed.push(id),
  );
  const ask = (question: string, otherwise?: boolean): Promise<boolean> => {
    asked.push([question, otherwise]);
    return Promise.resolve(answer === true);
  };
  const interrupted = new AbortController().signal;
  const io = { stderr, interrupted, env: {}, ...(answer === undefined ? {} : { ask }) } as unknown as Io;
  const result = await mendBroken(hub, options, io);
  return { result, asked, removed, said: String(stderr.read() ?? "") };
}

test("shows a broken folder at a terminal, asks, and removes it only after yes; Enter means no", async () => {
  expect(await mended(true)).toEqual({
    result: true,
    asked: [["Remove that and download it anew? [y/N] ", false]],
    removed: ["torn"],
    said: expect.stringContaining(FOLDER),
  });
  expect(await mended(false)).toMatchObject({ result: false, removed: [], asked: { length: 1 } });
});

test("accepts --yes as the confirmation; removes nothing a second time, or if no user can be asked", async () => {
  expect(await mended(undefined, { yes: true })).toMatchObject({ result: true, removed: ["torn"] });
  expect(await mended(undefined)).toMatchObject({ result: false, removed: [] });
  expect(await mended(true, { json: true })).toMatchObject({ result: false, removed: [], asked: [] });
  expect(await mended(true, { yes: true }, true)).toMatchObject({ result: false, removed: [] });
});

test("shows the new state of a source that is downloaded again, and reports its failure once", async () => {
  vi.useFakeTimers();
  const stderr = new PassThrough();
  const broken = { package: "npx torn-server", folders: [FOLDER], mended: false };
  let status: object = { state: "down", lastError: "It is broken.", broken };
  const hub = hubWith(
    () => [
      { source: { id: "well", kind: "stdio" }, status: { state: "ready" }, tools: 1 },
      { source: { id: "torn", kind: "stdio" }, status, tools: 9 },
    ],
    async () => {
      await vi.advanceTimersByTimeAsync(1000);
      status = { state: "down", installing: { since: new Date().toISOString(), waitsFor: "its cache grows" } };
      await vi.advanceTimersByTimeAsync(5000);
      status = { state: "ready" };
      await vi.advanceTimersByTimeAsync(1000);
    },
  );
  const io = { stderr, env: {}, interrupted: new AbortController().signal } as unknown as Io;
  expect(await mendBroken(hub, { yes: true }, io)).toBe(true);
  expect(String(stderr.read())).toMatch(
    /^torn: installing: its cache grows\ntorn: installing, \d s: its cache grows\ntorn: ready, \d s: 9 tools\n$/,
  );
});

afterEach(() => void vi.useRealTimers());

test("prints a line for new output of a download, and for repeated output every 30 seconds", () => {
  vi.useFakeTimers();
  const stderr = new PassThrough();
  let waitsFor = "its cache grows";
  const installing = { package: "npx slow", since: new Date().toISOString() };
  const hub = hubWith(() => [
    { source: { id: "slow" }, status: { installing: { ...installing, waitsFor } } },
    { source: { id: "well", kind: "stdio" }, status: {} },
  ]);
  const end = tellInstalls(hub, {}, { stderr, env: {} } as unknown as Io);
  vi.advanceTimersByTime(60_000);
  waitsFor = "Downloading zod (2.1MiB)";
  vi.advanceTimersByTime(10_000);
  end();
  vi.advanceTimersByTime(60_000);
  expect(String(stderr.read()).trim().split("\n")).toEqual([
    "slow: installing, 5 s: its cache grows",
    "slow: installing, 35 s: its cache grows",
    "slow: installing, 65 s: Downloading zod (2.1MiB)",
  ]);
});
