import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type Principal } from "../../../core/calls/call.ts";
import type { Identity } from "../../../core/calls/identity.ts";
import { alwaysAdmitting } from "../../../core/ports/authenticator.ts";
import { EVERYTHING } from "../../../core/ports/rights.ts";
import type { HttpExchange } from "../../../http/exchange.ts";
import { callerOf } from "./admin-caller.ts";
import { BrowserSessions } from "./sessions.ts";

const EXCHANGE = { method: "POST", baseUrl: "http://127.0.0.1:1", header: () => undefined } as unknown as HttpExchange;
const ISSUER = "https://issuer.example";

async function mayChange(identity: Partial<Identity> | undefined, admins?: string[], isGuarded = true) {
  const base = { kind: "user", id: `${ISSUER}|user|s-1`, name: "ann", groups: [], scopes: [], claims: { sub: "s-1" } };
  const full = { ...base, ...identity } as Identity;
  const principal: Principal = identity ? { id: full.id, rights: EVERYTHING, identity: full } : LOCAL_PRINCIPAL;
  const parts = {
    access: { isGuarded, authenticator: alwaysAdmitting(principal) },
    sessions: new BrowserSessions({ sessionMs: 1000, maxSessions: 1 }),
    ...(admins && { admins }),
  };
  return (await callerOf(EXCHANGE, parts)).mayChange;
}

test.each<[Partial<Identity> | undefined, string[] | undefined, boolean]>([
  [{ kind: "token", id: "ops", name: "ops", claims: {} }, undefined, true],
  [{ kind: "token", id: "ops", name: "ops", claims: {} }, ["token:ops"], true],
  [{ kind: "token", id: "ops", name: "ops", claims: {} }, ["token:other", "user:ops"], false],
  [{}, undefined, false],
  [{}, ["user:ann"], false],
  [{ name: "s-2" }, ["user:s-2"], false],
  [{ name: `${ISSUER}|user|s-2` }, [`user:${ISSUER}|user|s-2`], false],
  [{}, ["user:s-1"], true],
  [{}, [`user:${ISSUER}|user|s-1`], true],
  [{ isNameUnique: true, claims: {} }, ["user:ann"], true],
  [{ kind: "client", claims: { sub: "s-1" } }, ["user:s-1"], false],
  [{ groups: ["operators"] }, ["group:operators"], true],
  [{ groups: ["user:ann"] }, ["user:ann"], false],
  [undefined, undefined, false],
])("compares the identity %j with the administrators %j: %s", async (identity, admins, expected) => {
  expect(await mayChange(identity, admins)).toBe(expected);
});

test("lets no caller change a hub without authentication", async () => {
  expect(await mayChange(undefined, undefined, false)).toBe(false);
  expect(await mayChange({ kind: "token" }, undefined, false)).toBe(false);
});
