import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { enableCodeCache } from "./code-cache.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "code-cache-"));
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const echo = { enableCompileCache: (directory: string) => ({ directory }) };

test("uses a folder of the data folder that only its owner can read", () => {
  const folder = enableCodeCache({ TOOLYARD_HOME: home }, echo);
  expect(folder).toBe(join(home, "data", "compiled"));
  if (process.platform !== "win32") expect(statSync(folder!).mode & 0o777).toBe(0o700);
});

test("uses the default data folder without TOOLYARD_HOME", () => {
  const variables = process.platform === "win32" ? { LOCALAPPDATA: home } : { XDG_DATA_HOME: home };
  expect(enableCodeCache(variables, echo)).toBe(join(home, "toolyard", "compiled"));
});

test("does nothing and creates nothing on a Node version without a compile cache", () => {
  expect(enableCodeCache({ TOOLYARD_HOME: home }, {})).toBeUndefined();
  expect(() => statSync(join(home, "data"))).toThrow("ENOENT");
});

test("does nothing if the folder cannot be created", () => {
  writeFileSync(join(home, "data"), "a file");
  expect(enableCodeCache({ TOOLYARD_HOME: home }, echo)).toBeUndefined();
});

test("does nothing if Node refuses to use the folder", () => {
  const refuses = {
    enableCompileCache: () => {
      throw new Error("refused");
    },
  };
  expect(enableCodeCache({ TOOLYARD_HOME: home }, refuses)).toBeUndefined();
});

test("returns no folder if Node reports that the cache is disabled", () => {
  expect(enableCodeCache({ TOOLYARD_HOME: home }, { enableCompileCache: () => ({}) })).toBeUndefined();
});
