// URIs that different parsers interpret differently. The server parses like WHATWG, or less strictly; it must only open
// URIs that the caller's rights allow.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Catalog } from "../../packages/toolyard/src/catalog/catalog.ts";
import { resolveCatalog } from "../../packages/toolyard/src/catalog/options.ts";
import type { Snapshot } from "../../packages/toolyard/src/catalog/snapshot.ts";
import { isJsonObject, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import type { NarrowRights } from "../../packages/toolyard/src/core/ports/permission.ts";
import { MemoryProvider } from "../fixtures/memory-provider.ts";
import { createRandom } from "../support/random.ts";
import { isRefused, openTarget, openUpstream, rpc, tool, type Target, type Upstream } from "./attack.ts";
import {
  ALLOWED,
  DENIED,
  HOSTILE,
  isPublic,
  isSecret,
  opened,
  spell,
  spellHidden,
  spellHost,
} from "./uri-spellings.ts";

const CASES = 4000;
const SEED = 12_001;

async function files(): Promise<Snapshot> {
  const provider = new MemoryProvider({ id: "files" });
  provider.offer({ templates: [provider.template("file:///{+path}")] });
  return new Catalog(resolveCatalog(), [provider]).snapshot();
}

/** Returns the URI in the request to the server, if it was forwarded. */
function forwarded(snapshot: Snapshot, uri: string, rights?: NarrowRights): string | undefined {
  const principal = rights ? { id: "guest", rights } : LOCAL_PRINCIPAL;
  const lookup = snapshot.resolveResource(uri, { mode: "all", principal });
  return lookup.found ? lookup.target.uri : undefined;
}

describe(`of ${CASES} spellings from seed ${SEED}`, () => {
  test("S15: with any parser, a URI forwarded for an allowed pattern opens nothing else", async () => {
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

  test("S15: with any parser, a forwarded URI opens nothing that is denied", async () => {
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

  test("S15: a hidden query or dots below a host do not bypass a pattern", async () => {
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

  test("forwards the requested URI; for a caller with all rights, the standard parser's form", async () => {
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

/** Normalises equivalent encodings of spaces and non-ASCII letters. */
function readable(uri: string): string {
  return uri.replaceAll(/[ \u{80}-\u{10ffff}]+/gu, encodeURIComponent);
}

describe("required spelling of a URI", () => {
  test.each([
    ["greeting://José", "greeting://{name}"],
    ["greeting://Jos%C3%A9", "greeting://{name}"],
    ["file:///a/my file.txt", "file:///{+path}"],
    ["file:///a/x?y=/../z#/../w", "file:///{+path}"],
    ["https://EXAMPLE.com", "https://{+rest}"],
    ["https://example.com/x", "https://{+rest}"],
    ["urn:isbn:1 2", "urn:{+rest}"],
    ["notes://x%2Fy", "notes://{id}"],
  ])("forwards %s unchanged", async (uri, template) => {
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
  ])("refuses %j and names its canonical form %s", async (uri, canonical) => {
    const lookup = (await files()).resolveResource(uri, { mode: "all", principal: LOCAL_PRINCIPAL });
    expect(lookup).toMatchObject({ found: false, failure: { kind: "invalid_params", details: { canonical } } });
    expect(lookup.found ? "" : lookup.failure.message).toContain(canonical);
  });

  test("forwards a listed URI as its source lists it, in any spelling", async () => {
    const provider = new MemoryProvider({ id: "odd" });
    const uris = ["file:///a/../b", "FILE:///x", "not a uri", "greeting://John Smith"];
    provider.offer({ resources: uris.map((uri) => provider.resource(uri)) });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    expect(uris.map((uri) => forwarded(snapshot, uri))).toEqual(uris);
  });

  test("serves text that is not a URI if no URI patterns apply, and refuses one that no source lists", async () => {
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

  test.each<readonly [pattern: string, uri: string]>([
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
    // Trailing dots of a host.
    ["https://admin.internal/*", "https://admin.internal./x"],
    ["https://admin.internal./*", "https://admin.internal/x"],
    ["https://admin.internal/*", "https://me:pw@admin.internal.:8443/x"],
    ["https://*.internal/*", "https://admin.internal./x"],
    ["notes://admin.internal/*", "notes://Admin.Internal./x"],
    ["notes://admin.internal/*", "notes://admin.internal%2e/x"],
    ["notes://admin.internal/*", "notes://admin.internal../x"],
    // Letters beyond ASCII.
    ["https://bücher.example/*", "https://xn--bcher-kva.example/x"],
    ["https://BÜCHER.example/*", "https://xn--bcher-kva.example./x"],
    ["https://*.bücher.example/*", "https://www.xn--bcher-kva.example/x"],
    ["notes://bücher.example/*", "notes://b%C3%BCcher.example/x"],
    ["notes://xn--bcher-kva.example/*", "notes://b%C3%BCcher.example/x"],
    ["notes://admin.internal/*", "notes://admin%E3%80%82internal/x"],
    ["notes://admin.internal/*", "notes://%EF%BD%81dmin.internal/x"],
    ["notes://admin.internal/*", "notes://adm%C2%ADin.internal/x"],
    // Ports.
    ["https://admin.internal:443/*", "https://admin.internal/x"],
    ["https://admin.internal:0443/*", "https://admin.internal/x"],
    ["http://admin.internal:/*", "http://admin.internal/x"],
    ["ws://admin.internal:80/*", "ws://admin.internal/x"],
    ["https://admin.internal/*", "https://admin.internal:8443/x"],
    // Users.
    ["https://admin.internal/*", "https://public@admin.internal/x"],
    ["https://admin.internal/*", "https://public.example%40x:y@admin.internal/x"],
    // Addresses.
    ["http://10.0.0.1:80/*", "http://10.0.0.1/x"],
    ["http://[::ffff:10.0.0.1]/*", "http://10.0.0.1/x"],
    ["http://0x0a.1/*", "http://10.0.0.1/x"],
    ["http://167772161/*", "http://10.0.0.1/x"],
    ["notes://10.0.0.1/*", "notes://0x0a.1/x"],
    ["notes://10.0.0.1/*", "notes://10.0.0.1./x"],
    ["http://[0:0:0:0:0:0:0:5]/*", "http://[::5]/x"],
    ["http://[2001:DB8::0:1]:8080/*", "http://[2001:db8::1]:8080/x"],
    ["http://10.0.0.1/*", "http://[::ffff:a00:1]/x"],
    ["http://10.0.0.1/*", "http://[64:ff9b::a00:1]:8080/x"],
    ...["[2002:a00:1::]", "[2002:a00:1::5]", "[64:ff9b:1::a00:1]", "[64:ff9b:1:a00:0:100::]", "[::a00:1]"].map(
      (host) => ["http://10.0.0.1/*", `http://${host}/x`] as const,
    ),
    ["http://10.0.0.1/*", "http://[64:ff9b:1:a:0:1::]:8080/x"],
    ["http://10.0.0.1/*", "http://[64:ff9b:1:7:a:0:100:0]/x"],
    ["http://10.0.0.1/*", "http://[2001:0:a00:1::1]/x"],
    ["http://10.0.0.1/*", "http://[2001:0:1:2::f5ff:fffe]/x"],
    ["http://10.0.0.1/*", "http://[2001:db8::5efe:a00:1]/x"],
    ["http://10.*/*", "http://[fe80::200:5efe:a00:1]/x"],
    ["notes://10.0.0.1/*", "notes://[2002:a00:1::]/x"],
    ["http://169.254.169.254/*", "http://[2002:a9fe:a9fe::]/x"],
    ["http://localhost/*", "http://127.0.0.1/x"],
    ["http://localhost/*", "http://[::1]/x"],
    ["http://localhost/*", "http://[2002:7f00:1::]/x"],
    ["http://127.0.0.1/*", "http://[64:ff9b:1::7f00:1]/x"],
    ["http://127.*/*", "http://[::]/x"],
    ["http://127.0.0.1/*", "http://0.0.0.0/x"],
    ...["localhost.localdomain", "localhost6.localdomain6", "ip6-localhost", "IP6-Loopback.", "localhost4"].flatMap(
      (host) =>
        ["http://localhost/*", "http://127.0.0.1/*", "http://[::1]/*"].map(
          (pattern) => [pattern, new URL(`http://${host}:81/x`).href] as const,
        ),
    ),
    ["http://ip6-localhost/*", "http://127.9.9.9/x"],
    ["http://localhost.localdomain/*", "http://localhost/x"],
    ["http://127.0.0.1/*", "http://localhost./x"],
    ["file:///a/vault/*", "file://ip6-localhost/a/vault/gold.txt"],
    ["http://[::1]/*", "http://app.localhost:3000/x"],
    // Paths that a case-insensitive file system treats as equal.
    ["file:///C:/Vault/*", "file:///c:/vault/gold.txt"],
    ["file:///a/vault/*", "file:///a/VAULT/gold.txt"],
    ["file:///a/vault/*", "file:///a/vault./gold.txt"],
    ["file:///a/vault/*", "file:///a/vault%20/gold.txt"],
    ["file:///a/gold.txt", "file:///a/gold.txt::$DATA"],
    ["file:///a/gold.txt", "file:///a/gold.txt.%20"],
    ["any+file:///a/Vault/*", "file:///a/vault/gold.txt"],
    ["any+https://admin.internal/*", "https://admin.internal./x"],
  ])("S15: deny %s applies to %s", async (pattern, uri) => {
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
    ["https://bücher.example/*", "https://xn--bcher-kva.example/x"],
    ["https://example.com:443/*", "https://example.com/x"],
    ["https://example.com:8443/*", "https://example.com:8443/x"],
    ["https://example.com./*", "https://example.com./x"],
    ["https://me@example.com/*", "https://me@example.com/x"],
    ["http://[0:0:0:0:0:0:0:5]/*", "http://[::5]/x"],
    ["https://*/*", "https://me@example.com/x"],
  ])("allow %s applies to the equivalent %s", async (pattern, uri) => {
    const provider = new MemoryProvider({ id: "any" });
    const scheme = uri.slice(0, uri.indexOf(":"));
    provider.offer({ templates: [provider.template(`${scheme}:{+rest}`)] });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    expect(forwarded(snapshot, uri, { allow: [pattern] })).toBe(uri);
  });
});

describe("an allow pattern", () => {
  test.each([
    ["https://docs.example/*", "https://docs.example./x"],
    ["https://docs.example/*", "https://me@docs.example/x"],
    ["https://docs.example*", "https://docs.example@admin.internal/x"],
    ["https://docs.example:*", "https://docs.example:x@admin.internal/x"],
    ["https://docs.example/*", "https://docs.example:8443/x"],
    ["https://bücher.example/*", "https://bucher.example/x"],
    ["http://10.0.0.1/*", "http://[::ffff:a00:1]/x"],
    ["http://localhost/*", "http://127.0.0.1/x"],
    ["http://localhost/*", "http://localhost.localdomain/x"],
    ["http://10.0.0.1/*", "http://[2002:a00:1::]/x"],
    ["file:///a/public/*", "file:///a/Public/x"],
  ])("S15: %s does not match %s", async (pattern, uri) => {
    const provider = new MemoryProvider({ id: "any" });
    provider.offer({ templates: [provider.template(`${uri.slice(0, uri.indexOf(":"))}:{+rest}`)] });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    expect(forwarded(snapshot, uri)).toBe(uri);
    expect(forwarded(snapshot, uri, { allow: [pattern] })).toBeUndefined();
  });
});

describe("a deny pattern for one host", () => {
  test.each([
    ["https://admin.internal/*", "https://admin.internal.example/x"],
    ["https://admin.internal/*", "https://xadmin.internal/x"],
    ["https://admin.internal/*", "https://example.com/admin.internal./x"],
    ["https://admin.internal:8443/*", "https://admin.internal/x"],
    ["http://10.0.0.1/*", "http://[::ffff:a00:2]/x"],
    ["http://localhost/*", "http://128.0.0.1/x"],
    ["http://localhost/*", "http://localhost.example/x"],
    ["http://localhost/*", "http://my-ip6-localhost/x"],
    ["http://10.0.0.1/*", "http://[2002:a00:2::]/x"],
    ["http://10.0.0.1/*", "http://[2003:a00:1::]/x"],
    ["http://10.0.0.1/*", "http://[64:ff9b:2::a00:1]/x"],
    ["http://10.0.0.1/*", "http://[2001:db8::a00:1]/x"],
    ["file:///a/vault/*", "file:///a/vaults/x"],
    ["file:///a/vault", "file:///a/.vault"],
  ])("S15: %s does not apply to %s", async (pattern, uri) => {
    const provider = new MemoryProvider({ id: "any" });
    provider.offer({ templates: [provider.template(`${uri.slice(0, uri.indexOf(":"))}:{+rest}`)] });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    expect(forwarded(snapshot, uri, { deny: [pattern] })).toBe(uri);
  });

  test(`S15: applies to every spelling of that host, from seed ${SEED}`, async () => {
    const provider = new MemoryProvider({ id: "any" });
    provider.offer({ templates: [provider.template("https://{+rest}"), provider.template("notes://{+rest}")] });
    const snapshot = await new Catalog(resolveCatalog(), [provider]).snapshot();
    let count = 0;
    for (let at = 0; at < CASES; at += 1) {
      const { uri, pattern, host } = spellHost(createRandom(SEED + at));
      if (forwarded(snapshot, uri) === undefined) continue;
      count += 1;
      const said = `seed ${SEED + at}: ${uri} for ${host} with ${pattern}`;
      expect(forwarded(snapshot, uri, { deny: [pattern] }), said).toBeUndefined();
    }
    expect(count).toBeGreaterThan(CASES / 4);
  });
});

describe("a deny pattern without a prefix, with two sources that have the same URIs", () => {
  async function clashing(): Promise<Snapshot> {
    const providers = ["one", "two"].map((id, order) => {
      const provider = new MemoryProvider({ id, order });
      provider.offer({
        templates: ["https:{+rest}", "notes:{+rest}", "file:{+path}"].map((text) => provider.template(text)),
      });
      return provider;
    });
    return new Catalog(resolveCatalog(), providers).snapshot();
  }

  test.each([
    ["https://admin.internal/*", "https://u@admin.internal/x", "https://example.com/x"],
    ["https://admin.internal/*", "https://admin.internal./x", "https://admin.internal.example/x"],
    ["https://admin.internal/*", "https://ADMIN.internal/x", "https://xadmin.internal/x"],
    ["https://admin.internal/*", "https://admin.internal:8443/x", "https://other.internal:8443/x"],
    ["http*://127.0.0.1/*", "https://[::1]/x", "https://[::2]/x"],
    ["file:///a/vault/*", "file:///a/%76ault/gold", "file:///a/vaults/gold"],
    ["file:///a/vault/*", "file:///A/Vault/gold", "file:///b/vault/gold"],
    ["two+https://admin.internal/*", "https://admin.internal./x", "https://example.com/x"],
  ])("S15: %s denies %s at the source with the prefix, and does not apply to %s", async (pattern, denied, left) => {
    const snapshot = await clashing();
    expect(forwarded(snapshot, `two+${denied}`)).toBe(denied);
    expect(forwarded(snapshot, `two+${denied}`, { deny: [pattern] })).toBeUndefined();
    expect(forwarded(snapshot, `two+${left}`, { deny: [pattern] })).toBe(left);
  });

  test(`S15: applies to every spelling of the host after the prefix, from seed ${SEED}`, async () => {
    const snapshot = await clashing();
    let count = 0;
    for (let at = 0; at < CASES / 4; at += 1) {
      const { uri, pattern } = spellHost(createRandom(SEED + at));
      if (forwarded(snapshot, `two+${uri}`) === undefined) continue;
      count += 1;
      expect(forwarded(snapshot, `two+${uri}`, { deny: [pattern] }), `seed ${SEED + at}: ${uri}`).toBeUndefined();
    }
    expect(count).toBeGreaterThan(CASES / 16);
  });
});

describe.each([1, 2])("with %i process(es), over every endpoint", (workers) => {
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

    test.each(["legacy", "modern"] as const)("S15: reads no forbidden URI on MCP of the %s era", async (era) => {
      const client = await target.client(token, { era });
      for (const uri of HOSTILE) {
        expect(isRefused(await client.request("resources/read", { uri })), uri).toBe(true);
        if (era === "legacy") expect(isRefused(await client.request("resources/subscribe", { uri })), uri).toBe(true);
      }
      expect(asked()).toEqual([]);
    });

    test("S15: reads no forbidden URI on REST and JSON-RPC", async () => {
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

    test("S15: completes only values that it may read", async () => {
      const client = await target.client(token);
      const request = {
        ref: { type: "ref/resource", uri: "file:///{+path}" },
        argument: { name: "path", value: "a/" },
      };
      const reply = await client.request("completion/complete", request);
      const completion = isJsonObject(reply["result"]) ? objectMember(reply["result"], "completion") : undefined;
      // A caller that may not use the template gets no values.
      if (name === "guest") expect(isRefused(reply)).toBe(true);
      else expect(completion).toEqual({ values: ["a/public/news.txt", "a/other/x"] });
    });

    test.each(["legacy", "modern"] as const)(
      "S15: does not complete an argument that the template lacks in the %s era",
      async (era) => {
        const client = await target.client(token, { era });
        const before = server.received.length;
        for (const argument of ["other", "", "Path", "+path", "__proto__"]) {
          const params = {
            ref: { type: "ref/resource", uri: "file:///{+path}" },
            argument: { name: argument, value: "a/" },
          };
          expect(isRefused(await client.request("completion/complete", params)), argument).toBe(true);
        }
        const asked = server.received.slice(before).filter(({ method }) => method === "completion/complete");
        expect(asked).toEqual([]);
      },
    );
  });
});
