import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../core/ports/ports.ts";
import { ToolFolder } from "../../../../../test/support/tool-folder.ts";
import type { FolderReader } from "./node.ts";
import { FolderSweep } from "./sweep.ts";

let folder: ToolFolder;
let builds: string[];
beforeEach(() => {
  folder = new ToolFolder();
  builds = [];
});
afterEach(() => folder[Symbol.dispose]());

const reader: FolderReader<{ place: string; text: string }> = {
  wants: (name) => name === "x",
  descends: () => true,
  build({ place }, texts) {
    builds.push(place);
    const file = texts.get("x");
    return { value: { place, text: file === undefined ? "" : "text" in file ? file.text : file.problem } };
  },
};

function sweepOf(onChange: () => void = () => {}) {
  return new FolderSweep({ roots: [folder.path], reader, logger: SILENT_LOGGER }, onChange);
}

/** Waits until the written files no longer count as young. */
async function settled(sweep: FolderSweep<unknown>): Promise<void> {
  for (;;) {
    builds = [];
    await sweep.current();
    if (builds.length === 0) return;
    await nextTurn();
  }
}

describe("frequency of disk checks", () => {
  test("serves a hundred callers of one event-loop turn with one sweep", async () => {
    const sweep = sweepOf();
    const results = await Promise.all(Array.from({ length: 100 }, () => sweep.current()));
    expect(new Set(results).size).toBe(1);
    expect(sweep.sweeps).toBe(1);
  });

  test("serves callers that arrive during a sweep with the next sweep, which sees all earlier writes", async () => {
    for (let index = 0; index < 3000; index += 1) folder.write(`t${String(index).padStart(4, "0")}/x`, "old");
    const sweep = sweepOf();
    const first = sweep.current();
    // Waits until the first sweep has started and has yielded to other work.
    while (sweep.sweeps === 0) await nextTurn();
    folder.write("t0000/x", "new");
    const later = await Promise.all(Array.from({ length: 100 }, () => sweep.current()));
    expect((await first).values).toHaveLength(3001);
    expect(later.every(({ values }) => values[1]?.text === "new")).toBe(true);
    expect(sweep.sweeps).toBe(2);
  });

  test("starts a separate sweep for each of several consecutive callers", async () => {
    const sweep = sweepOf();
    await sweep.current();
    await sweep.current();
    expect(sweep.sweeps).toBe(2);
  });
});

describe("files that are read again", () => {
  test("reads only changed files when no file was modified recently", async () => {
    folder.write("a/x", "1");
    folder.write("b/x", "1");
    const sweep = sweepOf();
    await settled(sweep);
    const before = await sweep.current();
    folder.write("b/x", "2");
    const after = await sweep.current();
    expect(builds).toEqual(["b"]);
    expect(after.values[1]).toBe(before.values[1]);
    expect(after.values[2]).toEqual({ place: "b", text: "2" });
  });

  test("reads a recently changed file again, and returns the same result if its content is equal", async () => {
    folder.write("a/x", "1");
    const sweep = sweepOf();
    const first = await sweep.current();
    expect(await sweep.current()).toBe(first);
    expect(builds.filter((place) => place === "a")).toHaveLength(2);
  });

  test("reports a change once, after the sweep that found it", async () => {
    let changes = 0;
    const sweep = sweepOf(() => (changes += 1));
    await sweep.current();
    await nextTurn();
    expect(changes).toBe(0);
    folder.write("a/x", "1");
    await sweep.current();
    await sweep.current();
    await nextTurn();
    expect(changes).toBe(1);
  });
});

test("keeps the last result after close, and does not access the disk", async () => {
  const sweep = sweepOf();
  sweep.open();
  const last = await sweep.current();
  await sweep.close();
  folder.write("a/x", "1");
  expect(await sweep.current()).toBe(last);
});
