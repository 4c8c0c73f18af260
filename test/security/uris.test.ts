// URIs that look like one thing and are read as another. The server behind reads them as WHATWG does, or worse; what it
// would open must be what the caller's rights say.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Catalog } from "../../src/catalog/catalog.ts";
import { resolveCatalog } from "../../src/catalog/options.ts";
import type { Snapshot } from "../../src/catalog/snapshot.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../src/core/json.ts";
import { LOCAL_PRINCIPAL } from "../../src/core/call.ts";
import type { NarrowRights } from "../../src/core/rights.ts";
import { MemoryProvider } from "../fixtures/memory-provider.ts";
import { createRandom } from "../support/random.ts";
import { isRefused, openTarget, openUpstream, rpc, tool, type Target, type Upstream } from "./attack.ts";
import { ALLOWED, DENIED, HOSTILE, isPublic, isSecret, opened, spell, spellHidden } from "./uri-spellings.ts";

const CASES = 4000;
const SEED = 12_001;

async function files(): Promise<Snapshot> {
  const provider = new MemoryProvider({ id: "files" });
  provider.offer({ templates: [provider.template("file:///{+path}")] });
  return new Catalog(resolveCatalog(), [provider]).snapshot();
}

/** The URI that the server is asked for, if it is asked. */
function forwarded(snapshot: Snapshot, uri: string, rights?: NarrowRights): string | undefined {
  const principal = rights ? { id: "guest", rights } : LOCAL_PRINCIPAL;
  const lookup = snapshot.resolveResource(uri, { mode: "all", principal });
  return lookup.found ? lookup.target.uri : undefined;
}

describe(`of ${CASES} spellings from seed ${SEED}`, () => {
  test("S15: none that is forwarded for an allowed pattern opens anything else, whoever reads it", async () => {
    const snapshot = await files();
    let count = 0;
    for (let at = 0; at < CASES; at += 1) {
      const uri = spell(createRandom(SEED + at));
      const given = forwarded(snapshot, uri, { allow: ALLOWED });
      if (given === undefined) continue;
      count += 1;
      expect(
        opened(given).every(isPublic),
        `seed ${SEED + at}: ${JSON.stringify(uri)} → ${opened(given).join(" ")}`,
      ).toBe(true);
    }
    expect(count).toBeGreaterThan(CASES / 20);
  });

  test("S15: none that is forwarded opens what is denied, whoever reads it", async () => {
    const snapshot = await files();
    let count = 0;
    for (let at = 0; at < CASES; at += 1) {
      const uri = spell(createRandom(SEED + at));
      const given = forwarded(snapshot, uri, { deny: DENIED });
      if (given === undefined) continue;
      count += 1;
      expect(
        opened(given).some(isSecret),
        `seed ${SEED + at}: ${JSON.stringify(uri)} → ${opened(given).join(" ")}`,
      ).toBe(false);
    }
    expect(count).toBeGreaterThan(CASES / 20);
  });

  test("S15: a hidden query or dots below a host do not get around a pattern", async () => {
    const provider = new MemoryProvider({ id: "any" });
    provider.offer({ templates: [provider.template("notes://{+rest}")] });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    for (let at = 0; at < CASES / 10; at += 1) {
      const random = createRandom(SEED + at);
      const { uri, pattern } = spellHidden(random);
      expect(forwarded(snapshot, uri), `seed ${SEED + at}: ${uri}`).toBe(uri);
      expect(forwarded(snapshot, uri, { deny: [pattern] }), `seed ${SEED + at}: ${uri}`).toBeUndefined();
    }
  });

  test("forwarded is what was asked for, and for a caller with all rights a standard reader's words", async () => {
    const snapshot = await files();
    for (let at = 0; at < CASES; at += 1) {
      const uri = spell(createRandom(SEED + at));
      const given = forwarded(snapshot, uri);
      if (given === undefined) continue;
      expect(uri.endsWith(given), JSON.stringify(uri)).toBe(true);
      expect(readable(new URL(given).href), JSON.stringify(uri)).toBe(readable(given));
    }
  });
});

/** Without what makes no difference: how spaces and letters beyond ASCII are encoded. */
function readable(uri: string): string {
  return uri.replaceAll(/[ \u{80}-\u{10ffff}]+/gu, encodeURIComponent);
}

describe("how a URI is to be written", () => {
  test.each([
    ["greeting://José", "greeting://{name}"],
    ["greeting://Jos%C3%A9", "greeting://{name}"],
    ["file:///a/my file.txt", "file:///{+path}"],
    ["file:///a/x?y=/../z#/../w", "file:///{+path}"],
    ["https://EXAMPLE.com", "https://{+rest}"],
    ["https://example.com/x", "https://{+rest}"],
    ["urn:isbn:1 2", "urn:{+rest}"],
    ["notes://x%2Fy", "notes://{id}"],
  ])("%s is forwarded as it is", async (uri, template) => {
    const provider = new MemoryProvider({ id: "any" });
    provider.offer({ templates: [provider.template(template)] });
    expect(forwarded(await new Catalog(resolveCatalog(), [provider]).snapshot(), uri)).toBe(uri);
  });

  test.each([
    ["file:///a/public/.\t./vault/gold.txt", "file:///a/vault/gold.txt"],
    ["file:///a/public/.%2\te/vault/gold.txt", "file:///a/vault/gold.txt"],
    ["file:///a/public/../vault/x?/../../public/x", "file:///a/vault/x?/../../public/x"],
    ["file:a/vault/gold.txt", "file:///a/vault/gold.txt"],
    ["FILE:///a/x", "file:///a/x"],
    ["file:///a\\x", "file:///a/x"],
    ["file://localhost/a/x", "file:///a/x"],
    [" file:///a/x", "file:///a/x"],
    ["files+file:///a/./x", "files+file:///a/x"],
  ])("%j is refused with its canonical form %s", async (uri, canonical) => {
    const lookup = (await files()).resolveResource(uri, { mode: "all", principal: LOCAL_PRINCIPAL });
    expect(lookup).toMatchObject({ found: false, failure: { kind: "invalid_params", details: { canonical } } });
    expect(lookup.found ? "" : lookup.failure.message).toContain(canonical);
  });

  test("what its source lists is forwarded as it is listed, however it is written", async () => {
    const provider = new MemoryProvider({ id: "odd" });
    const uris = ["file:///a/../b", "FILE:///x", "not a uri", "greeting://John Smith"];
    provider.offer({ resources: uris.map((uri) => provider.resource(uri)) });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    expect(uris.map((uri) => forwarded(snapshot, uri))).toEqual(uris);
  });

  test("what is no URI is for callers without patterns over URIs, and refused where nobody lists it", async () => {
    const provider = new MemoryProvider({ id: "odd" });
    provider.offer({
      resources: [provider.resource("greeting://John Smith")],
      templates: [provider.template("greeting://{name}")],
    });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    const listed = (rights: NarrowRights): readonly JsonObject[] =>
      snapshot.list("resources", { mode: "all", principal: { id: "guest", rights } }).entries;
    expect(listed({ deny: ["tools__*"] })).toHaveLength(1);
    expect(listed({ deny: ["file:///a/*"] })).toEqual([]);
    expect(listed({ allow: ["greeting://*"] })).toEqual([]);
    expect(forwarded(snapshot, "greeting://John Smith", { allow: ["greeting://*"] })).toBeUndefined();
    expect(
      snapshot.resolveResource("greeting://Jane Smith", { mode: "all", principal: LOCAL_PRINCIPAL }),
    ).toMatchObject({
      failure: { kind: "invalid_params" },
    });
  });

  test.each([
    ["notes://payroll", "notes://PAYROLL"],
    ["notes://payroll", "notes://payroll/"],
    ["notes://payroll", "notes://me@payroll"],
    ["notes://payroll", "notes:payroll"],
    ["file:///a/vault/*", "file://127.0.0.1/a/vault/gold.txt"],
    ["file:///a/vault/*", "file://elsewhere/a/vault/gold.txt"],
    ["notes:///a/*", "notes:/a/x"],
    ["file:///a/vault/*", "file:///a/ｖault/gold.txt"],
    ["file:///a/vault/*", "file:///a/x/．．/vault/gold.txt"],
    ["https://Example.com/*", "https://example.com/x"],
  ])("S15: deny %s holds for %s", async (pattern, uri) => {
    const provider = new MemoryProvider({ id: "any" });
    const scheme = uri.slice(0, uri.indexOf(":"));
    provider.offer({ templates: [provider.template(`${scheme}:{+rest}`)] });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    expect(forwarded(snapshot, uri)).toBe(uri);
    expect(forwarded(snapshot, uri, { deny: [pattern] })).toBeUndefined();
  });

  test.each([
    ["file:///a/my dir/*", "file:///a/my%20dir/x"],
    ["file:///a/my%20dir/*", "file:///a/my dir/x"],
    ["greeting://José*", "greeting://Jos%C3%A9"],
    ["https://example.com/*", "https://EXAMPLE.com/x?y=1"],
    ["db://table/x?id=*", "db://table/x?id=7"],
    ["urn:isbn:*", "urn:isbn:17"],
    ["any+file:///a/*", "file:///a/x"],
  ])("allow %s holds for %s, spelt otherwise", async (pattern, uri) => {
    const provider = new MemoryProvider({ id: "any" });
    const scheme = uri.slice(0, uri.indexOf(":"));
    provider.offer({ templates: [provider.template(`${scheme}:{+rest}`)] });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    expect(forwarded(snapshot, uri, { allow: [pattern] })).toBe(uri);
  });
});

describe.each([1, 2])("with %i process(es), over every door", (workers) => {
  const tokens = {
    guest: { token: "guest-token-1", allow: ALLOWED },
    barred: { token: "barred-token-2", deny: DENIED },
  };
  let server: Upstream;
  let target: Target;
  beforeAll(async () => {
    server = await openUpstream({
      tools: [tool("x")],
      capabilities: { tools: {}, resources: { subscribe: true }, completions: {} },
      templates: [{ uriTemplate: "file:///{+path}", name: "files" }],
      answer: (method) =>
        method === "completion/complete"
          ? { result: { completion: { values: ["a/public/news.txt", "a/vault/gold.txt", "a/other/x"], total: 3 } } }
          : undefined,
    });
    target = await openTarget({
      server: { tokens, workers },
      mcp: { remote_servers: [{ namespace: "files", url: server.url }] },
    });
    await target.hub.list();
  });
  afterAll(async () => {
    await target?.[Symbol.asyncDispose]();
    await server?.close();
  });

  const asked = (): string[] =>
    server.received
      .filter(({ method }) => method === "resources/read" || method === "resources/subscribe")
      .map(({ params }) => String(params["uri"]));

  describe.each(["guest", "barred"] as const)("S15: a %s token", (name) => {
    const { token } = tokens[name];
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };

    test.each(["legacy", "modern"] as const)("S15: reads none of them by MCP of the %s era", async (era) => {
      const client = await target.client(token, { era });
      for (const uri of HOSTILE) {
        expect(isRefused(await client.request("resources/read", { uri })), uri).toBe(true);
        if (era === "legacy") expect(isRefused(await client.request("resources/subscribe", { uri })), uri).toBe(true);
      }
      expect(asked()).toEqual([]);
    });

    test("S15: reads none of them by REST and JSON-RPC", async () => {
      for (const uri of HOSTILE) {
        const query = `?uri=${encodeURIComponent(uri)}`;
        const answers = [
          await target.send({ method: "GET", path: `/api/resources${query}`, headers }),
          await target.send({ method: "GET", path: `/${query}`, headers }),
        ];
        for (const { status, body } of answers) expect(status, `${uri}: ${body}`).toBeGreaterThanOrEqual(400);
        const spoken = await target.send({ path: "/jsonrpc", headers, body: rpc("resource/get", { uri }) });
        expect(JSON.parse(spoken.body), uri).toSatisfy(isRefused);
      }
      expect(asked()).toEqual([]);
    });

    test("S15: is told by completion of what it may read only", async () => {
      const client = await target.client(token);
      const request = {
        ref: { type: "ref/resource", uri: "file:///{+path}" },
        argument: { name: "path", value: "a/" },
      };
      const reply = await client.request("completion/complete", request);
      const completion = isJsonObject(reply["result"]) ? objectMember(reply["result"], "completion") : undefined;
      // Who may not use the template is told nothing at all.
      if (name === "guest") expect(isRefused(reply)).toBe(true);
      else expect(completion).toEqual({ values: ["a/public/news.txt", "a/other/x"] });
    });
  });
});
