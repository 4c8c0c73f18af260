// Small files shared by the processes of a library, under concurrent changes and after an interrupted process.
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ByPerson } from "../src/ingest/by-person.ts";
import { Lease } from "../src/ingest/lease.ts";
import { RemovedSources } from "../src/ingest/removed.ts";
import { Watch } from "../src/ingest/watch.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "toolyard-left-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string): string => join(folder, name);

test("a lease file without a holder can be taken after it was not renewed for 30 s, and not before", async () => {
  writeFileSync(path("lease"), "");
  const lease = new Lease(path("lease"));
  expect([await lease.take(), await lease.take(Date.now() + 31_000)]).toEqual([false, true]);
  await lease.release();
});

test("one process takes a lease that several processes find abandoned", async () => {
  for (let round = 0; round < 15; round += 1) {
    writeFileSync(path("lease"), JSON.stringify({ pid: 2 ** 30, host: hostname() }));
    const leases = Array.from({ length: 12 }, () => new Lease(path("lease")));
    const taken = await Promise.all(
      leases.map(async (lease, at) => {
        // Delays each lease differently, so that it meets the others at every step.
        for (let turn = 0; turn < at; turn += 1) await new Promise(setImmediate);
        return lease.take();
      }),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    await Promise.all(leases.map((lease) => lease.release()));
  }
});

test("takes a lease again if another process exited while taking it", async () => {
  writeFileSync(path("lease"), JSON.stringify({ pid: 2 ** 30, host: hostname() }));
  writeFileSync(path("lease.claim"), "");
  const lease = new Lease(path("lease"));
  expect(await lease.take()).toBe(false);
  utimesSync(path("lease.claim"), 0, 0);
  await expect.poll(() => lease.take()).toBe(true);
  await lease.release();
});

test("stores all concurrent removals, and a removal can be withdrawn", async () => {
  const removed = new RemovedSources(path("removed.json"));
  const uris = Array.from({ length: 20 }, (_, at) => `file:///${at}`);
  await Promise.all(uris.map((uri) => removed.add(uri)));
  expect([...(await removed.uris())]).toEqual(uris);
  await Promise.all([removed.delete("file:///3"), removed.delete("file:///4")]);
  expect((await removed.uris()).size).toBe(18);
});

test("reads addresses after a truncated line, and ignores the truncated line", async () => {
  const byPerson = new ByPerson(path("by-person.jsonl"));
  await byPerson.add("file:///a");
  appendFileSync(path("by-person.jsonl"), '"file:///b');
  await byPerson.add("file:///c");
  const known = await Promise.all(["a", "b", "c"].map((name) => byPerson.has(`file:///${name}`)));
  expect(known).toEqual([true, false, true]);
});

test("does not read known addresses again, and reads those that another process adds", async () => {
  const [own, other] = [new ByPerson(path("by-person.jsonl")), new ByPerson(path("by-person.jsonl"))];
  await own.add("file:///a");
  expect(await own.has("file:///a")).toBe(true);
  const handle = openSync(path("by-person.jsonl"), "r+");
  writeSync(handle, "file:///x", 2);
  closeSync(handle);
  await other.add("file:///b");
  expect(await Promise.all(["a", "b", "x"].map((name) => own.has(`file:///${name}`)))).toEqual([true, true, false]);
});

test("reads an address file again after another program replaced it", async () => {
  const byPerson = new ByPerson(path("by-person.jsonl"));
  await byPerson.add("file:///a/long/one");
  writeFileSync(path("by-person.jsonl"), '"file:///b"\n');
  expect([await byPerson.has("file:///b"), await byPerson.has("file:///a/long/one")]).toEqual([true, false]);
  rmSync(path("by-person.jsonl"));
  expect(await byPerson.has("file:///b")).toBe(false);
});

describe("watching", () => {
  const watch = (onFiles: (paths: readonly string[]) => Promise<void>): Watch =>
    new Watch({ roots: [path("books")], folder, settleMs: 10, sweepMs: 10, onFiles });

  beforeEach(() => {
    mkdirSync(path("books"));
    writeFileSync(path("books/a.md"), "# A");
  });

  test("reports files again only if handling them failed", async () => {
    const handed: (readonly string[])[] = [];
    let again = (): void => {};
    const asked = new Promise<void>((done) => (again = done));
    await using own = watch(async (paths) => {
      handed.push(paths);
      if (handed.length === 1) throw new Error("There are too many jobs.");
      again();
    });
    await own.start();
    await asked;
    expect(handed).toEqual([[path("books/a.md")], [path("books/a.md")]]);
    writeFileSync(path("books/b.md"), "# B");
    await expect.poll(() => handed.length).toBe(3);
    expect(handed[2]).toEqual([path("books/b.md")]);
  });

  test("closing the watcher during its start stops it, reports no files, and releases the lease", async () => {
    const handed: (readonly string[])[] = [];
    const own = watch(async (paths) => void handed.push(paths));
    const begun = own.start();
    await own[Symbol.asyncDispose]();
    await begun;
    expect(handed).toEqual([]);
    const lease = new Lease(path("watch.lease"));
    expect(await lease.take()).toBe(true);
    await lease.release();
  });
});
