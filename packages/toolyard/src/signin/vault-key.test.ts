import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemKeyring, type Keyring } from "./keyring.ts";
import type { SignInRecord } from "./records.ts";
import { findKey, makeKey } from "./vault-key.ts";
import { Vault } from "./vault.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-keys-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A system keyring that stores what is written, and can be locked. */
class Ring implements Keyring {
  readonly kept = new Map<string, string>();
  isLocked = false;
  readsBack = true;

  read(name: string): Promise<string | undefined> {
    return Promise.resolve(this.isLocked || !this.readsBack ? undefined : this.kept.get(name));
  }

  write(name: string, secret: string): Promise<boolean> {
    if (!this.isLocked) this.kept.set(name, secret);
    return Promise.resolve(!this.isLocked);
  }
}

const place = (keyring: Keyring, isAttended: boolean) => ({ folder, variables: {}, keyring, isAttended });
const RECORD = {
  source: "far",
  url: "https://far.example/mcp",
  person: "shared",
  server: { issuer: "https://issuer.example", token_endpoint: "https://issuer.example/token" },
  client: { issuer: "https://issuer.example", id: "one", method: "none", from: "given" },
  scopes: [],
} satisfies SignInRecord;

function vaultOf(keyring: Keyring, isAttended: boolean): Vault {
  return new Vault(place(keyring, isAttended), () => {});
}

test("stores the key in the keyring at a terminal, after reading it back, and in no file", async () => {
  const ring = new Ring();
  await vaultOf(ring, true).update(RECORD, () => RECORD);
  expect([...ring.kept.keys()]).toEqual([expect.stringMatching(/^vault [0-9a-f]{16}$/)]);
  expect(() => readFileSync(join(folder, "key"))).toThrow(/ENOENT/);
  expect(await vaultOf(ring, false).find(RECORD)).toEqual(RECORD);
});

test.each<[string, (ring: Ring) => void]>([
  ["takes nothing", (ring) => void (ring.isLocked = true)],
  ["does not give back what it took", (ring) => void (ring.readsBack = false)],
])("stores the key in a file if the keyring %s", async (_, spoil) => {
  const ring = new Ring();
  spoil(ring);
  expect((await makeKey(place(ring, true))).store).toBe("file");
  expect(await findKey("file", place(ring, false))).toHaveLength(32);
});

test("does not access the keyring without a terminal", async () => {
  const ring = new Ring();
  expect((await makeKey(place(ring, false))).store).toBe("file");
  expect(ring.kept.size).toBe(0);
});

test("uses the key store chosen earlier; while it is locked, reports that and creates no second key", async () => {
  const ring = new Ring();
  await vaultOf(ring, true).update(RECORD, () => RECORD);
  ring.isLocked = true;
  const hub = vaultOf(ring, false);
  await expect(hub.find(RECORD)).rejects.toThrow(/the vault is locked: the system's keyring/);
  await expect(hub.update({ ...RECORD, source: "b" }, () => RECORD)).rejects.toMatchObject({
    failure: { kind: "needs_authorisation" },
  });
  expect(() => readFileSync(join(folder, "key"))).toThrow(/ENOENT/);
  ring.isLocked = false;
  expect(await hub.find(RECORD)).toEqual(RECORD);
});

test("keeps a complete vault that replaces an incomplete one during reading", async () => {
  const ring = new Ring();
  await vaultOf(ring, true).update(RECORD, () => RECORD);
  const file = join(folder, "vault.json");
  const whole = readFileSync(file, "utf8");
  writeFileSync(file, whole.replace(/"data":"../, '"data":"!!'));
  const aside: string[] = [];
  const vault = new Vault(place(ring, false), (path) => void aside.push(path));
  const read = ring.read.bind(ring);
  ring.read = (name) => {
    writeFileSync(file, whole);
    return read(name);
  };
  expect(await vault.find(RECORD)).toEqual(RECORD);
  expect(aside).toEqual([]);
  expect(readFileSync(file, "utf8")).toBe(whole);
});

const MODULE = `
import { readFileSync, writeFileSync } from "node:fs";
export class Entry {
  constructor(service, name) { this.file = process.env.RING; this.name = service + "/" + name; }
  getPassword() {
    if (process.env.HANGS) for (;;) {}
    return JSON.parse(readFileSync(this.file, "utf8"))[this.name] ?? null;
  }
  setPassword(secret) { writeFileSync(this.file, JSON.stringify({ [this.name]: secret })); }
}`;

test("accesses the system's keyring in a separate process, for at most two seconds", async () => {
  const [module, file] = [join(folder, "ring.mjs"), join(folder, "ring.json")];
  writeFileSync(module, MODULE);
  writeFileSync(file, "{}");
  const ring = systemKeyring({ RING: file }, module);
  expect(await ring.read("vault 1")).toBeUndefined();
  expect(await ring.write("vault 1", "s3cret")).toBe(true);
  expect(await ring.read("vault 1")).toBe("s3cret");
  const before = performance.now();
  expect(await systemKeyring({ RING: file, HANGS: "1" }, module).read("vault 1")).toBeUndefined();
  expect(performance.now() - before).toBeLessThan(20_000);
  expect(await systemKeyring({}, join(folder, "none.mjs")).write("vault 1", "s3cret")).toBe(false);
});
