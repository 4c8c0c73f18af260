import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileHistory, MAX_VERSIONS } from "./file-history.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "toolyard-history-"))));
afterEach(() => rm(folder, { recursive: true }));

test("keeps the versions of each file separately, newest first, readable for their owner only", async () => {
  const history = new FileHistory(folder, () => 5);
  for (const text of ["a", "b", "b", "c"]) await history.keep("/one", text, "ops");
  await history.keep("/two", "x", "else");
  const versions = await history.list("/one");
  expect(versions.map(({ text }) => text)).toEqual(["c", "b", "a"]);
  expect(versions[0]).toMatchObject({ by: "ops", time: "1970-01-01T00:00:00.007Z" });
  expect((await history.list("/two")).map(({ text, by }) => [text, by])).toEqual([["x", "else"]]);
  expect(await history.list("/three")).toEqual([]);
  const [inner] = await readdir(folder);
  expect((await stat(join(folder, inner!))).mode & 0o777).toBe(0o700);
  for (const name of await readdir(join(folder, inner!)))
    expect((await stat(join(folder, inner!, name))).mode & 0o777).toBe(0o600);
});

test("keeps a limited number of versions and bytes", async () => {
  const history = new FileHistory(folder);
  for (let at = 0; at < MAX_VERSIONS + 5; at += 1) await history.keep("/one", String(at), "ops");
  expect((await history.list("/one")).map(({ text }) => text).at(-1)).toBe("5");
  expect(await history.list("/one")).toHaveLength(MAX_VERSIONS);
  for (const letter of ["a", "b", "c"]) await history.keep("/large", letter.repeat(3_500_000), "ops");
  expect((await history.list("/large")).map(({ text }) => text[0])).toEqual(["c", "b"]);
});

test("ignores damaged and foreign files", async () => {
  const history = new FileHistory(folder);
  await history.keep("/one", "a", "ops");
  const [inner = ""] = await readdir(folder);
  await writeFile(join(folder, inner, "99.json"), "{");
  await writeFile(join(folder, inner, "98.json"), '{"file":"/other","text":"x"}');
  await writeFile(join(folder, inner, "note.txt"), "x");
  expect((await history.list("/one")).map(({ text }) => text)).toEqual(["a"]);
});
