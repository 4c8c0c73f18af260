import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { IssuerBook } from "./issuer-book.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-issuers-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const KEY = { source: "far", url: "https://far.example/mcp?key=s3cret" };
const at = (issuer: string, address = issuer): { issuer: string; address: string } => ({ issuer, address });
const file = (): string => join(folder, "issuers.json");

test("returns the first binding to every later claim, also from another process's book", async () => {
  expect(await new IssuerBook(folder).claim(KEY, at("https://a.example"))).toEqual(at("https://a.example"));
  expect(await new IssuerBook(folder).claim(KEY, at("https://b.example"))).toMatchObject(at("https://a.example"));
  expect(await new IssuerBook(folder).find(KEY)).toMatchObject(at("https://a.example"));
});

test("replaces a binding that `keeps` rejects", async () => {
  const book = new IssuerBook(folder);
  await book.claim(KEY, at("https://a.example"));
  const kept = await book.claim(KEY, at("https://b.example"), ({ issuer }) => issuer !== "https://a.example");
  expect(kept).toEqual(at("https://b.example"));
  expect(await book.find(KEY)).toMatchObject(at("https://b.example"));
});

test("returns one binding to 16 concurrent claims through separate books", async () => {
  const claims = Array.from({ length: 16 }, (_, index) =>
    new IssuerBook(folder).claim(KEY, at(`https://issuer-${index}.example`)),
  );
  const issuers = new Set((await Promise.all(claims)).map(({ issuer }) => issuer));
  expect(issuers.size).toBe(1);
});

test("separates sources and addresses, and writes no URL to the file", async () => {
  const book = new IssuerBook(folder);
  await book.claim(KEY, at("https://a.example"));
  await book.claim({ ...KEY, source: "near" }, at("https://b.example"));
  await book.claim({ ...KEY, url: "https://far.example/other" }, at("https://c.example"));
  expect((await book.all()).map(({ source, issuer }) => [source, issuer])).toEqual([
    ["far", "https://a.example"],
    ["near", "https://b.example"],
    ["far", "https://c.example"],
  ]);
  expect(readFileSync(file(), "utf8")).not.toContain("s3cret");
});

test("forgets all bindings of one source, and reports how many there were", async () => {
  const book = new IssuerBook(folder);
  expect(await book.forget("far")).toBe(0);
  await book.claim(KEY, at("https://a.example"));
  await book.claim({ ...KEY, source: "near" }, at("https://b.example"));
  expect([await book.forget("far"), await book.find(KEY)]).toEqual([1, undefined]);
  expect(await book.all()).toMatchObject([{ source: "near" }]);
});

test.each<[string, string]>([
  ["text", "hello"],
  ["nothing", ""],
  ["half a file", '{"version":1,"issuers":{"a":{"sou'],
  ["another version", '{"version":2,"issuers":{}}'],
  ["a list", '{"version":1,"issuers":[]}'],
  ["a binding without an issuer", '{"version":1,"issuers":{"a":{"source":"far","address":"x"}}}'],
  ["deep nesting", `${"[".repeat(100_000)}`],
])("rejects a file that holds %s, and leaves it unchanged", async (_, text) => {
  writeFileSync(file(), text);
  const book = new IssuerBook(folder);
  await expect(book.find(KEY)).rejects.toThrow(/`issuers\.json` in the vault's folder is damaged.*set `issuer`/);
  await expect(book.claim(KEY, at("https://a.example"))).rejects.toThrow(/is damaged/);
  expect(readFileSync(file(), "utf8")).toBe(text);
});

test("rejects a folder at the path of the file", async () => {
  mkdirSync(file());
  await expect(new IssuerBook(folder).claim(KEY, at("https://a.example"))).rejects.toThrow(
    /could not be read \(EISDIR\)/,
  );
});
