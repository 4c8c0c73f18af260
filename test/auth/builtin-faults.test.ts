import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JournalRecords } from "../../packages/toolyard/src/auth/builtin/disk/journal-records.ts";
import { RecordStore } from "../../packages/toolyard/src/auth/builtin/record-store.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import {
  addUser,
  authorizationOf,
  clientOf,
  newHome,
  openYard,
  refresh,
  register,
  statusWith,
  tokenRequest,
  tokensFor,
  Visitor,
} from "./builtin-yard.ts";

const SETTINGS = { auth: { modes: ["builtin"] } };

let home: string;

function storeIn(folder: string): RecordStore {
  return new RecordStore(new JournalRecords(folder, Date.now));
}

beforeEach(() => {
  home = newHome();
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test("registrations, sign-ins and tokens survive a restart, and no token is on disk", async () => {
  const first = await openYard();
  const { home: kept, served } = first;
  const client = await clientOf(first);
  const tokens = await tokensFor(first, client);
  const port = Number(new URL(served.address.url).port);
  await first.close();
  const files = readdirSync(join(kept, "data", "auth"), { recursive: true, encoding: "utf8" });
  const texts = files.map((file) => join(kept, "data", "auth", file)).filter((file) => file.endsWith(".json"));
  for (const text of texts.map((file) => readFileSync(file, "utf8")))
    for (const token of [tokens.access_token!, tokens.refresh_token!]) expect(text).not.toContain(token);
  await using second = await ToyHub.reopen(FEATURES, SETTINGS, { home: kept, port });
  // `fetch` may still use a connection to the previous hub.
  await expect.poll(() => statusWith(second, tokens.access_token).catch(() => 0)).toBe(200);
  expect(await refresh(second, client, tokens.refresh_token!)).toMatchObject({ access_token: expect.any(String) });
}, 60_000);

test("refresh tokens stay valid after the browser's session has ended", async () => {
  const first = await openYard();
  const client = await clientOf(first);
  const tokens = await tokensFor(first, client);
  const port = Number(new URL(first.served.address.url).port);
  await first.close();
  rmSync(join(first.home, "data", "auth", "records", "Session"), { recursive: true });
  await using second = await ToyHub.reopen(FEATURES, SETTINGS, { home: first.home, port });
  await expect.poll(() => statusWith(second, tokens.access_token).catch(() => 0)).toBe(200);
  const renewed = await refresh(second, client, tokens.refresh_token!);
  expect(await statusWith(second, renewed.access_token)).toBe(200);
}, 60_000);

describe("records on disk", () => {
  test("are complete or absent after their writer was killed, 20 times", async () => {
    const folder = join(home, "records");
    const writer = fileURLToPath(new URL("record-writer.ts", import.meta.url));
    const register = new URL("../../packages/toolyard/dist/runtimes/typescript/register.js", import.meta.url).href;
    for (let round = 0; round < 20; round += 1) {
      const child = spawn(process.execPath, ["--import", register, writer, folder, String(round)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let written = 0;
      for await (const line of createInterface(child.stdout)) {
        written = Number(line);
        if (written >= 5 + round) child.kill("SIGKILL");
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      const store = storeIn(folder);
      for (let at = 1; at <= written; at += 1)
        expect(await store.find(`${round}-${at}`)).toMatchObject({ filler: "x".repeat(4000), jti: `${round}-${at}` });
    }
  }, 120_000);

  test.each<[string, string]>([
    ["a torn file", '{"payload":{"accountId":"a"'],
    ["an empty file", ""],
    ["HTML", "<html>"],
    ["a list", "[]"],
    ["a record without a payload", "{}"],
    ["an expired record", '{"payload":{},"expiresAt":1}'],
  ])("%s counts as an absent record", async (_, text) => {
    const store = storeIn(join(home, "records"));
    await store.write("token", { a: 1 });
    const [name] = readdirSync(join(home, "records"));
    writeFileSync(join(home, "records", name!), text);
    expect(await storeIn(join(home, "records")).find("token")).toBeUndefined();
  });

  test("that cannot be written leave the old ones unchanged, and the write fails", async () => {
    const folder = join(home, "records");
    const store = storeIn(folder);
    await store.write("token", { a: 1 });
    // Simulates a full disk, also for root: the draft's folder is missing.
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    await expect(store.write("token", { a: 2 })).rejects.toThrow();
    await expect(store.write("other", { a: 2 })).rejects.toThrow();
    expect(await store.find("token")).toMatchObject({ a: 1 });
    expect(await store.find("other")).toBeUndefined();
  });
});

test("issues no token while no record can be written, and continues to serve signed-in callers", async () => {
  await using toy = await openYard();
  const client = await clientOf(toy);
  const tokens = await tokensFor(toy, client);
  const folder = join(toy.home, "data", "auth", "records", "AccessToken");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "");
  const refused = await refresh(toy, client, tokens.refresh_token!);
  expect([refused.access_token, refused.error]).toEqual([undefined, "server_error"]);
  expect(await statusWith(toy, tokens.access_token)).toBe(200);
  rmSync(folder);
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  const again = await refresh(toy, client, tokens.refresh_token!);
  expect(await statusWith(toy, again.access_token)).toBe(200);
}, 30_000);

describe("a full disk", () => {
  let disk: string;

  /** Mounts a small file system, and returns whether that was possible. */
  function mount(): boolean {
    disk = join(home, "disk");
    mkdirSync(disk);
    const args = ["-t", "tmpfs", "-o", "size=768k", "tmpfs", disk];
    return process.getuid?.() === 0 && spawnSync("mount", args, { stdio: "ignore" }).status === 0;
  }

  /** Fills the file system of a folder, and returns a function that frees the space. */
  function fill(folder: string): () => void {
    const file = join(folder, "filler");
    const handle = openSync(file, "w");
    for (const bytes of [65_536, 4096, 512, 1]) {
      try {
        for (;;) writeSync(handle, Buffer.alloc(bytes, 1));
      } catch (error) {
        expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
      }
    }
    closeSync(handle);
    return () => rmSync(file);
  }

  const draftsIn = (folder: string): readonly string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.(tmp|lock)$/.test(name));

  test("refuses new access, keeps that of signed-in callers, and loses no data", async ({ skip }) => {
    const machine = { secret: "a-secret-of-16-characters" };
    const settings = { auth: { modes: ["builtin"], builtin: { machines: { robot: machine } } } };
    const basic = { authorization: `Basic ${Buffer.from(`robot:${machine.secret}`).toString("base64")}` };
    skip(!mount(), "only as root");
    try {
      const own = join(disk, "hub");
      await addUser(own, "Ann", ["dev"]);
      await using toy = await ToyHub.reopen(FEATURES, settings, { home: own });
      const client = await clientOf(toy);
      const [kept, revoked] = [await tokensFor(toy, client), await tokensFor(toy, client)];
      const waiting = await new Visitor(toy).open(authorizationOf(toy, client).url);
      const free = fill(disk);

      expect(await statusWith(toy, kept.access_token)).toBe(200);
      expect((await register(toy)).status).toBeGreaterThanOrEqual(500);
      const grants = [
        refresh(toy, client, kept.refresh_token!),
        tokenRequest(toy, { grant_type: "client_credentials", scope: "mcp" }, basic),
      ];
      for (const answer of await Promise.all(grants))
        expect(answer).toEqual({ error: expect.any(String), error_description: expect.any(String) });
      const visitor = new Visitor(toy);
      const page = await visitor.open(authorizationOf(toy, client).url);
      expect(page.location ?? "").not.toContain("code=");
      expect(waiting.text).toContain('value="login"');
      await expect(addUser(own, "Bob")).rejects.toMatchObject({ code: "ENOSPC" });
      const body = new URLSearchParams({ client_id: client, token: revoked.access_token! });
      expect((await toy.fetch("/revoke", { method: "POST", body })).status).toBe(200);
      await expect.poll(() => statusWith(toy, revoked.access_token)).toBe(401);
      expect(await statusWith(toy, kept.access_token)).toBe(200);

      free();
      expect(draftsIn(disk)).toEqual([]);
      const again = await refresh(toy, client, kept.refresh_token!);
      expect(await statusWith(toy, again.access_token)).toBe(200);
      await addUser(own, "Bob");
      expect(await statusWith(toy, (await tokensFor(toy, client)).access_token)).toBe(200);
    } finally {
      spawnSync("umount", ["-l", disk]);
    }
  }, 60_000);

  test("lets no identity assertion be used twice", async ({ skip }) => {
    skip(!mount(), "only as root");
    try {
      const folder = join(disk, "records");
      const store = storeIn(folder);
      expect(await store.claim("first", Date.now() + 60_000)).toBe(true);
      const free = fill(disk);
      await expect(store.claim("second", Date.now() + 60_000)).rejects.toMatchObject({ code: "ENOSPC" });
      for (const id of ["first", "second"]) expect(await store.claim(id, Date.now() + 60_000)).toBe(false);
      free();
      expect(await store.claim("third", Date.now() + 60_000)).toBe(true);
    } finally {
      spawnSync("umount", ["-l", disk]);
    }
  });
});

test("admits no user if the file of users cannot be read", async () => {
  await using toy = await openYard();
  const tokens = await tokensFor(toy, await clientOf(toy));
  const file = join(toy.home, "data", "auth", "users.json");
  expect(existsSync(file)).toBe(true);
  writeFileSync(file, "{torn");
  await expect.poll(() => statusWith(toy, tokens.access_token), { timeout: 5000 }).toBe(401);
}, 30_000);
