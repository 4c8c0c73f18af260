import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { SignInRecord } from "./records.ts";
import { Vault } from "./vault.ts";

const RECORD: SignInRecord = {
  source: "far",
  url: "https://mcp.example/mcp",
  person: "shared",
  server: { issuer: "https://auth.example", token_endpoint: "https://auth.example/token" },
  client: { issuer: "https://auth.example", id: "c", method: "none", from: "registered" },
  scopes: [],
};
const KEY = Buffer.alloc(32, 7).toString("base64");
let folder: string;
const aside: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-vault-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  aside.length = 0;
});

function open(variables: Record<string, string> = {}): Vault {
  return new Vault({ folder, variables }, (path) => void aside.push(path));
}

test("a process reads the sign-ins of another process, and only those of its principal", async () => {
  await open().update(RECORD, () => RECORD);
  const other = open();
  expect(await other.find(RECORD)).toEqual(RECORD);
  expect(await other.find({ ...RECORD, person: "anna" })).toBeUndefined();
  expect(await other.find({ ...RECORD, url: "https://other.example/mcp" })).toBeUndefined();
});

test("concurrent writes lose no record", async () => {
  const vaults = Array.from({ length: 20 }, () => open());
  await Promise.all(
    vaults.map((vault, index) => {
      const record = { ...RECORD, source: `s${index}` };
      return vault.update(record, () => record);
    }),
  );
  expect(await open().all()).toHaveLength(20);
});

test("a change that throws leaves everything unchanged", async () => {
  const vault = open();
  await vault.update(RECORD, () => RECORD);
  await expect(
    vault.update(RECORD, () => {
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  expect(await open().find(RECORD)).toEqual(RECORD);
});

test("writes no key file if a key is in the environment", async () => {
  await open({ TOOLYARD_VAULT_KEY: KEY }).update(RECORD, () => RECORD);
  expect(readdirSync(folder)).toEqual(["vault.json"]);
  expect(await open({ TOOLYARD_VAULT_KEY: KEY }).find(RECORD)).toEqual(RECORD);
});

test.each([{}, { TOOLYARD_VAULT_KEY: Buffer.alloc(32, 8).toString("base64") }])(
  "without the key in the environment the vault is locked, and keeps all records: %o",
  async (variables) => {
    await open({ TOOLYARD_VAULT_KEY: KEY }).update(RECORD, () => RECORD);
    const before = readFileSync(join(folder, "vault.json"), "utf8");
    const locked = {
      failure: { kind: "needs_authorisation", message: expect.stringContaining("the vault is locked") },
    };
    await expect(open(variables).find(RECORD)).rejects.toMatchObject(locked);
    await expect(open(variables).update(RECORD, () => undefined)).rejects.toMatchObject(locked);
    expect(readFileSync(join(folder, "vault.json"), "utf8")).toBe(before);
    expect(readdirSync(folder)).toEqual(["vault.json"]);
  },
);

test("refuses an invalid key and does not show it", async () => {
  const refused = open({ TOOLYARD_VAULT_KEY: "s3cret" }).update(RECORD, () => RECORD);
  await expect(refused).rejects.toThrow(/32 random bytes/);
  await expect(refused).rejects.not.toThrow(/s3cret/);
});

test.each<[string, (text: string) => string]>([
  ["torn", (text) => text.slice(0, text.length / 2)],
  ["empty", () => ""],
  ["foreign", () => '{"tokens": []}'],
  ["changed", (text) => text.replace(/"data":"(.)/, (_, first) => `"data":"${first === "A" ? "B" : "A"}`)],
])("moves a %s file aside with a report, and starts a new one", async (_, spoil) => {
  await open().update(RECORD, () => RECORD);
  const path = join(folder, "vault.json");
  const spoilt = spoil(readFileSync(path, "utf8"));
  writeFileSync(path, spoilt);
  const vault = open();
  expect(await vault.find(RECORD)).toBeUndefined();
  expect(aside).toHaveLength(1);
  expect(readFileSync(aside[0]!, "utf8")).toBe(spoilt);
  await vault.update(RECORD, () => RECORD);
  expect(await open().find(RECORD)).toEqual(RECORD);
});

test("does not open a file with a header that names another key store", async () => {
  await open().update(RECORD, () => RECORD);
  const path = join(folder, "vault.json");
  const key = readFileSync(join(folder, "key"), "utf8").trim();
  writeFileSync(path, readFileSync(path, "utf8").replace('"store":"file"', '"store":"environment"'));
  expect(await open({ TOOLYARD_VAULT_KEY: key }).find(RECORD)).toBeUndefined();
  expect(aside).toHaveLength(1);
});
