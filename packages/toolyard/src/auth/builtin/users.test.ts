import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OptionError } from "../../core/errors.ts";
import { AuthFile } from "./disk/auth-file.ts";
import { Users } from "./users.ts";

const ANN = { name: "ann", sub: "1", hash: "h", groups: ["staff"] };
const ACCOUNT = { provider: "work", issuer: "https://login.example.com", subject: "7", groups: [] };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-users-"));
  file = join(folder, "users.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("Users", () => {
  test.each([
    ["a syntax error", '{"users": [],}'],
    ["no text", ""],
    ["another document", "[]"],
    ["a list under another name", JSON.stringify({ user: [ANN] })],
    ["an entry without groups", JSON.stringify({ users: [ANN, { name: "bob", sub: "2", hash: "h" }] })],
    ["an entry that is not an object", JSON.stringify({ users: [ANN, null] })],
  ])("leave a file with %s unchanged, and refuse each change", async (_case, text) => {
    await writeFile(file, text);
    const users = new Users(new AuthFile(file));
    await expect(users.setAccount(ACCOUNT, "work:7")).rejects.toThrow(OptionError);
    await expect(users.add("carl", { hash: "h", groups: [] })).rejects.toThrow("Nothing was changed");
    await expect(users.remove("ann")).rejects.toThrow("`users.json`");
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("refuse a change if the file cannot be opened", async () => {
    await mkdir(file);
    await expect(new Users(new AuthFile(file)).setAccount(ACCOUNT, "work:7")).rejects.toThrow(/EISDIR|EPERM/);
  });

  test("create a missing file, and keep the other users of an existing file", async () => {
    const users = new Users(new AuthFile(file));
    await users.setAccount(ACCOUNT, "work:7");
    await writeFile(file, JSON.stringify({ users: [ANN] }));
    await users.setAccount(ACCOUNT, "work:7");
    expect((await users.list()).map(({ name }) => name)).toEqual(["ann", "work:7"]);
  });

  test("are found again when the file is corrected", async () => {
    await writeFile(file, "{");
    const users = new Users(new AuthFile(file));
    expect(await users.list()).toEqual([]);
    await writeFile(file, JSON.stringify({ users: [ANN] }));
    expect(await users.list()).toEqual([ANN]);
  });
});
