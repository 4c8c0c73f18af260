import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RecordStore } from "../../packages/toolyard/src/auth/builtin/record-store.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { clientOf, newHome, openYard, refresh, statusWith, tokensFor } from "./builtin-yard.ts";

const SETTINGS = { auth: { modes: ["builtin"] } };

let home: string;

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
      const store = new RecordStore(folder, Date.now);
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
    const store = new RecordStore(join(home, "records"), Date.now);
    await store.write("token", { a: 1 });
    const [name] = readdirSync(join(home, "records"));
    writeFileSync(join(home, "records", name!), text);
    expect(await new RecordStore(join(home, "records"), Date.now).find("token")).toBeUndefined();
  });

  test("that cannot be written leave the old ones unchanged, and the write fails", async () => {
    const folder = join(home, "records");
    const store = new RecordStore(folder, Date.now);
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

test("admits no user if the file of users cannot be read", async () => {
  await using toy = await openYard();
  const tokens = await tokensFor(toy, await clientOf(toy));
  const file = join(toy.home, "data", "auth", "users.json");
  expect(existsSync(file)).toBe(true);
  writeFileSync(file, "{torn");
  await expect.poll(() => statusWith(toy, tokens.access_token), { timeout: 5000 }).toBe(401);
}, 30_000);
