import fc from "fast-check";
import { expect, test } from "vitest";
import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";
import type { SignInRecord } from "./records.ts";
import { StoredSignIn } from "./session-record.ts";
import type { SignInVault } from "./vault-port.ts";

const RECORD: SignInRecord = {
  source: "far",
  url: "https://mcp.example/mcp",
  person: "shared",
  server: { issuer: "https://auth.example", token_endpoint: "https://auth.example/token" },
  client: { issuer: "https://auth.example", id: "c", method: "none", from: "registered" },
  tokens: { access: "a0", type: "Bearer", refresh: "r0", obtainedAt: 1 },
  scopes: [],
};

function withTokens(number: number, record = RECORD): SignInRecord {
  return { ...record, tokens: { access: `a${number}`, type: "Bearer", refresh: `r${number}`, obtainedAt: 1 } };
}

function signedOut(record: SignInRecord): SignInRecord {
  const { tokens: _, ...rest } = record;
  return rest;
}

/** Opens the record of a session in a vault that can fail. */
function open() {
  const stored: { record: SignInRecord | undefined; isLost: boolean } = { record: RECORD, isLost: false };
  const ended: string[] = [];
  const lost = (): FailError => new FailError(fail("unavailable", "The store is lost."));
  const vault: SignInVault = {
    find: async () => stored.record,
    all: async () => [],
    update: async (_, change) => {
      if (stored.isLost) throw lost();
      return (stored.record = change(stored.record));
    },
    exclusively: (_, work) => work(),
  };
  const record = new StoredSignIn({ vault, key: RECORD, onEnded: ({ tokens }) => void ended.push(tokens!.refresh!) });
  return { record, stored, ended };
}

test("stores a renewed record", async () => {
  const { record, stored, ended } = open();
  expect(await record.renew(RECORD, withTokens(1))).toEqual(withTokens(1));
  expect(stored.record).toEqual(withTokens(1));
  expect(await record.find()).toEqual(withTokens(1));
  expect(ended).toEqual([]);
});

test("stores tokens later if they could not be stored, and never returns the replaced ones", async () => {
  const { record, stored } = open();
  stored.isLost = true;
  await expect(record.renew(RECORD, withTokens(1))).rejects.toThrow("lost");
  await expect(record.find()).rejects.toThrow("lost");
  stored.isLost = false;
  expect(await record.find()).toEqual(withTokens(1));
  expect(stored.record).toEqual(withTokens(1));
});

test("returns the tokens of a later sign-in instead of its own unsaved ones, and revokes none", async () => {
  const { record, stored, ended } = open();
  stored.isLost = true;
  await expect(record.renew(RECORD, withTokens(1))).rejects.toThrow("lost");
  Object.assign(stored, { isLost: false, record: withTokens(7) });
  expect(await record.find()).toEqual(withTokens(7));
  expect(stored.record).toEqual(withTokens(7));
  expect(ended).toEqual([]);
});

test.each([
  ["signed out", signedOut(RECORD)],
  ["was forgotten", undefined],
])("reports renewed tokens of a user that %s meanwhile, and does not store them", async (_, after) => {
  for (const isLost of [false, true]) {
    const { record, stored, ended } = open();
    Object.assign(stored, { isLost, record: after });
    if (isLost) await expect(record.renew(RECORD, withTokens(1))).rejects.toThrow("lost");
    else expect(await record.renew(RECORD, withTokens(1))).toEqual(after);
    stored.isLost = false;
    expect(await record.find()).toEqual(after);
    expect(stored.record).toEqual(after);
    expect(ended).toEqual(["r1"]);
  }
});

test("does not store tokens of another client", async () => {
  const { record, stored } = open();
  const other = { ...RECORD, client: { ...RECORD.client, id: "d" } };
  stored.record = other;
  expect(await record.renew(RECORD, withTokens(1))).toEqual(other);
});

test("uses each refresh token once, for any order of renewals and outages", async () => {
  const step = fc.constantFrom("renew", "load", "lose", "restore");
  const property = fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
    const { record, stored } = open();
    const used = new Set<string>();
    let number = 0;
    for (const next of steps) {
      if (next === "lose" || next === "restore") stored.isLost = next === "lose";
      const found = await record.find().catch(() => undefined);
      if (next !== "renew" || !found) continue;
      expect(used).not.toContain(found.tokens!.refresh);
      used.add(found.tokens!.refresh!);
      await record.renew(found, withTokens((number += 1))).catch(() => {});
    }
    stored.isLost = false;
    expect((await record.find())?.tokens?.access).toBe(`a${number}`);
  });
  await fc.assert(property, { numRuns: 200, seed: 20_261_127 });
});
