// Roles of callers that sign in: by user, group, client and claim, with the scopes that operations require.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { FEATURES } from "../../packages/toolyard/src/hub/features.ts";
import { ToyHub } from "../places-to-touch/toy-hub.ts";
import { KeyIssuer } from "./key-issuer.ts";

let issuer: KeyIssuer;

beforeAll(async () => {
  issuer = await KeyIssuer.start();
});

afterAll(() => issuer[Symbol.asyncDispose]());

const ROLES = {
  reader: { allow: ["meta.*"], deny: ["meta.get_server_logs"], members: { groups: ["staff"], users: ["ann"] } },
  watcher: { allow: ["meta.get_server_status"], scopes: ["status"], members: { claims: { dept: ["it"] } } },
  limited: { allow: ["meta.*"], scopes: ["status"], members: { groups: ["limited"] } },
  robot: { allow: ["meta.ping"], scopes: [], members: { clients: ["bot"] } },
};
const SCOPES = { status: { required_by: ["meta.get_server_status"] }, log: { required_by: ["meta.get_module_*"] } };
const PROFILES = { desk: { tools: ["meta.ping", "meta.get_server_status"], roles: ["reader", "watcher"] } };

function open(more: JsonObject = {}): Promise<ToyHub> {
  return ToyHub.open(FEATURES, {
    auth: { modes: ["issuer"], issuer: { url: issuer.url } },
    roles: ROLES,
    scopes: SCOPES,
    profiles: PROFILES,
    ...more,
  });
}

describe.each([1, 2])("with %i serving process(es)", (workers) => {
  let toy: ToyHub;

  beforeAll(async () => {
    toy = await open({ server: { jsonrpc: true, workers } });
  }, 60_000);

  afterAll(() => toy[Symbol.asyncDispose]());

  async function call(tool: string, claims: JsonObject, base = ""): Promise<Response> {
    const token = await issuer.sign(toy.served.address.url, { claims });
    return toy.fetch(`${base}/api/tools/${tool}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: "{}",
    });
  }

  const STAFF = { sub: "1", groups: ["staff"] };
  const IT = { sub: "2", dept: "it" };

  test.each<[string, JsonObject, string, number]>([
    ["a member of the group", STAFF, "meta.ping", 200],
    ["a member of the group, for what its role denies", STAFF, "meta.get_server_logs", 403],
    ["a user by name", { sub: "3", preferred_username: "ann" }, "meta.ping", 200],
    ["a user of another name", { sub: "3", preferred_username: "anna" }, "meta.ping", 403],
    ["a caller with the claim", { ...IT, scope: "status" }, "meta.get_server_status", 200],
    [
      "a caller with another value of the claim",
      { sub: "2", dept: "hr", scope: "status" },
      "meta.get_server_status",
      403,
    ],
    ["a client by its id", { sub: "bot", client_id: "bot" }, "meta.ping", 200],
    ["a user of that client", { sub: "4", client_id: "bot" }, "meta.ping", 403],
    ["a caller without a role", { sub: "5" }, "meta.ping", 403],
  ])("%s", async (_, claims, tool, status) => {
    expect((await call(tool, claims)).status).toBe(status);
  });

  test("challenges for a missing scope, unless the roles of the caller exclude that scope", async () => {
    const missing = await call("meta.get_server_status", IT);
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([
      403,
      expect.stringMatching(/error="insufficient_scope".*scope="status"/),
    ]);
    const staff = await call("meta.get_server_status", STAFF);
    expect([staff.status, staff.headers.get("www-authenticate")]).toEqual([
      403,
      expect.stringContaining("insufficient_scope"),
    ]);
    expect((await call("meta.get_server_status", { ...STAFF, scope: "status" })).status).toBe(200);
    const barred = await call("meta.get_module_info", { sub: "6", groups: ["limited"], scope: "log" });
    expect([barred.status, barred.headers.get("www-authenticate")]).toEqual([403, null]);
    expect(await barred.text()).toContain("needs the scope log, which no role of yours permits");
    expect((await call("meta.get_server_status", { sub: "6", groups: ["limited"], scope: "status" })).status).toBe(200);
  });

  test("a profile narrows a signed-in caller's rights, and its challenge names the profile's metadata", async () => {
    expect((await call("meta.ping", STAFF, "/mcp/desk")).status).toBe(200);
    expect((await call("meta.get_module_info", STAFF, "/mcp/desk")).status).toBe(403);
    expect((await call("meta.ping", { sub: "bot", client_id: "bot" }, "/mcp/desk")).status).toBe(404);
    const missing = await call("meta.get_server_status", IT, "/mcp/desk");
    const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(missing.headers.get("www-authenticate") ?? "") ?? [];
    expect(metadata).toContain("/.well-known/oauth-protected-resource/mcp/desk");
    expect((await fetch(metadata)).status).toBe(200);
  });

  test("whoami shows the identity, its roles and its scopes", async () => {
    const token = await issuer.sign(toy.served.address.url, { claims: { ...IT, ...STAFF, scope: "status log" } });
    const answer = await toy.fetch("/whoami", { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toMatchObject({
      kind: "user",
      issuer: issuer.url,
      groups: ["staff"],
      roles: ["reader", "watcher"],
      scopes: ["status"],
    });
  });
});

test("without configured roles, a signed-in caller has every right", async () => {
  await using toy = await open({ roles: {}, profiles: {}, scopes: {} });
  const token = await issuer.sign(toy.served.address.url);
  expect((await toy.call("meta.get_server_status", {}, { authorization: `Bearer ${token}` })).status).toBe(200);
});
