// Several sources with the same URIs: a URI from one source never leads to another.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../packages/toolyard/src/catalog/catalog.ts";
import { resolveCatalog } from "../../packages/toolyard/src/catalog/options.ts";
import type { Snapshot } from "../../packages/toolyard/src/catalog/snapshot.ts";
import { LOCAL_PRINCIPAL } from "../../packages/toolyard/src/core/calls/call.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { MemoryProvider } from "../fixtures/memory-provider.ts";
import type { RawClient } from "../fixtures/raw/raw-client.ts";
import { createRandom, type Random } from "../support/random.ts";
import { openTarget, openUpstream, sendRaw, tool, type Target, type Upstream } from "./attack.ts";

const WHOLE = { mode: "all", principal: LOCAL_PRINCIPAL } as const;
const PAGE = "ui://panel";
const SHARED = "notes://shared";
const UNLISTED = "notes://unlisted";

/** Returns all texts below a value whose key is `uri` or `resourceUri`. */
function urisIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]: [string, unknown]) =>
    typeof member === "string" && /^(?:uri|resourceUri)$/.test(key) ? [member] : urisIn(member),
  );
}

/** Starts a server with a tool, a prompt and a page that return URIs which the other server also has. */
function offering(name: string): Promise<Upstream> {
  const link = (uri: string): JsonObject => ({ type: "resource_link", uri, name: "link" });
  const embedded = (uri: string): JsonObject => ({ type: "resource", resource: { uri, text: name } });
  const page = { _meta: { ui: { resourceUri: PAGE }, "ui/resourceUri": PAGE } };
  const answers: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
    "tools/call": ({ arguments: given }) => ({
      content: [
        { type: "text", text: JSON.stringify(given) },
        link(SHARED),
        embedded(UNLISTED),
        link("https://web.example/"),
      ],
      ...page,
    }),
    "prompts/get": () => ({
      messages: [
        { role: "user", content: link(UNLISTED) },
        { role: "user", content: embedded(SHARED) },
      ],
    }),
    "resources/read": ({ uri }) => ({
      contents: [
        { uri, text: name },
        { uri: `${String(uri)}/part`, text: name },
      ],
    }),
  };
  return openUpstream({
    tools: [{ ...tool("links"), inputSchema: { type: "object" }, ...page }],
    prompts: [{ name: "links" }],
    resources: [{ uri: SHARED, name: "shared" }],
    answer: (method, params) => (answers[method] ? { result: answers[method](params) } : undefined),
  });
}

describe("links, embedded resources, prompts and pages lead back to their own server", () => {
  let target: Target;
  let one: Upstream;
  let two: Upstream;
  beforeEach(async () => {
    one = await offering("one");
    two = await offering("two");
    const allow = ["two__*", "two+*"];
    target = await openTarget({
      server: { tokens: { owner: { token: "owner-1" }, guest: { token: "guest-2", allow } } },
      mcp: {
        remote_servers: [
          { namespace: "one", url: one.url },
          { namespace: "two", url: two.url },
        ],
      },
    } as never);
  });
  afterEach(async () => {
    await target[Symbol.asyncDispose]();
    await Promise.all([one.close(), two.close()]);
  });

  const readBack = async (client: RawClient, uri: string): Promise<unknown> => {
    const { contents } = await client.result("resources/read", { uri });
    return (contents as readonly JsonObject[]).map(({ uri: shown, text }) => [shown, text]);
  };

  test.each(["legacy", "modern"] as const)("to a %s client", async (era) => {
    const client = await target.client("owner-1", { era });
    for (const name of ["one", "two"]) {
      const prefix = name === "two" ? "two+" : "";
      // Both servers return URIs of this scheme, so a URI without a prefix belongs to neither.
      const unlisted = `${name}+${UNLISTED}`;
      const page = name === "two" ? "ui://two+panel" : PAGE;
      const result = await client.tool(`${name}__links`);
      expect(urisIn(result)).toEqual([`${prefix}${SHARED}`, unlisted, "https://web.example/", page]);
      expect((result["_meta"] as JsonObject)["ui/resourceUri"]).toBe(page);
      const prompt = await client.result("prompts/get", { name: `${name}__links` });
      expect(urisIn(prompt)).toEqual([unlisted, `${prefix}${SHARED}`]);
      for (const uri of [`${prefix}${SHARED}`, unlisted])
        expect(await readBack(client, uri)).toEqual([
          [uri, name],
          [`${name}+${uri.replace(/^(?:one|two)\+/, "")}/part`, name],
        ]);
      expect((await readBack(client, page)) as unknown[]).toContainEqual([page, name]);
    }
    const tools = await client.list("tools/list", "tools");
    expect(urisIn(tools)).toEqual([PAGE, "ui://two+panel"]);
  });

  test("to a token that may only use this server", async () => {
    const guest = await target.client("guest-2");
    const uris = urisIn(await guest.tool("two__links")).filter((uri) => !uri.startsWith("https:"));
    expect(uris).toEqual([`two+${SHARED}`, `two+${UNLISTED}`, "ui://two+panel"]);
    for (const uri of uris) expect(JSON.stringify(await readBack(guest, uri))).toContain('"two"');
    const refused = await guest.request("resources/read", { uri: SHARED });
    expect(refused["error"]).toBeDefined();
  });

  test("over REST and JSON-RPC", async () => {
    const headers = { "content-type": "application/json", authorization: "Bearer owner-1" };
    // A call waits only for its own server, so the lists are read first: they wait for both.
    await (await target.client("owner-1")).list("resources/list", "resources");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "two__links", params: {} });
    const rest = await sendRaw(target.port, { path: "/api/tools/two__links", headers, body: "{}" });
    const rpc = await sendRaw(target.port, { path: "/jsonrpc", headers, body });
    for (const answer of [rest, rpc]) {
      expect(answer.body).toContain(`two+${SHARED}`);
      expect(answer.body).not.toMatch(new RegExp(`"${SHARED}"`));
    }
  });

  test("a tool gets a URI of its own server without the prefix that the hub added", async () => {
    const client = await target.client("owner-1");
    await client.tool("two__links");
    const given = { a: `two+${UNLISTED}`, b: [`two+${SHARED}`], c: "two+notes://never-shown", d: `see two+${SHARED}` };
    const { content } = await client.tool("two__links", given);
    expect(JSON.parse(String((content as readonly JsonObject[])[0]!["text"]))).toEqual({
      a: UNLISTED,
      b: [SHARED],
      c: "two+notes://never-shown",
      d: `see two+${SHARED}`,
    });
    const other = await client.tool("one__links", { a: `two+${UNLISTED}` });
    expect(String((other["content"] as readonly JsonObject[])[0]!["text"])).toContain(`two+${UNLISTED}`);
  });
});

describe("a result with very many or very long URIs", () => {
  const text = (at: number): string => `notes://q/${at}`;

  async function links(
    uris: readonly string[],
  ): Promise<{ readonly client: RawClient; readonly shown: readonly string[] }> {
    const both = await Promise.all(
      ["one", "two"].map((name) =>
        openUpstream({
          tools: [tool("links")],
          resources: [{ uri: "files://shared", name }],
          answer: (method, { arguments: given }) =>
            method === "tools/call"
              ? {
                  result: {
                    content: [
                      { type: "text", text: JSON.stringify(given) },
                      ...uris.map((uri) => ({ type: "resource_link", uri, name: "link" })),
                    ],
                  },
                }
              : undefined,
        }),
      ),
    );
    const [one, two] = both as [Upstream, Upstream];
    closing.push(one, two);
    const remote_servers = [
      { namespace: "one", url: one.url },
      { namespace: "two", url: two.url },
    ];
    const target = await openTarget({ mcp: { remote_servers } } as never);
    opened.push(target);
    const client = await target.client();
    return { client, shown: urisIn(await client.tool("two__links")) };
  }

  const opened: Target[] = [];
  const closing: Upstream[] = [];
  afterEach(async () => {
    for (const target of opened.splice(0)) await target[Symbol.asyncDispose]();
    await Promise.all(closing.splice(0).map((upstream) => upstream.close()));
  });

  test("has its first URIs compared with those of other sources, and all others get a prefix", async () => {
    const given = Array.from({ length: 30_000 }, (_, at) => text(at));
    const { shown } = await links(given);
    const bare = shown.filter((uri) => uri.startsWith("notes:"));
    expect(shown[0]).toBe(text(0));
    expect(bare.length).toBeLessThan(20_000);
    expect(shown).toEqual(given.map((uri, at) => (at < bare.length ? uri : `two+${uri}`)));
  });

  test.each([
    ["is translated back", 1_000, false],
    ["stays as it is, since the hub does not keep it,", 10_000, true],
  ])("one of its URIs as an argument %s with %i characters", async (_what, length, isKept) => {
    const uri = `files://${"x".repeat(length)}`;
    const { client, shown } = await links([uri]);
    expect(shown).toEqual([`two+${uri}`]);
    const { content } = await client.tool("two__links", { a: shown[0] });
    const received = JSON.parse(String((content as readonly JsonObject[])[0]!["text"])) as JsonObject;
    expect(received["a"]).toBe(isKept ? `two+${uri}` : uri);
  });
});

const SCHEMES = ["notes:", "file:", "ui:", "https:", "one+notes:", "git+https:"];
const ids = ["one", "two", "three", "git"];

function anyUri(random: Random): string {
  return `${random.pick(SCHEMES)}//${random.pick(["a", "b", "two+a", "x"])}/${random.pick(["p", "q"])}`;
}

async function anyHub(random: Random): Promise<{ readonly snapshot: Snapshot; readonly serving: ReadonlySet<string> }> {
  const serving = new Set<string>();
  const some = (make: () => string): readonly string[] => Array.from({ length: random.below(3) }, make);
  const providers = ids.map((id, order) => {
    const provider = new MemoryProvider({ id, order, namespace: random.pick([id, id.toUpperCase()]) });
    const resources = some(() => anyUri(random)).map((uri) => provider.resource(uri));
    const templates = some(() => random.pick(["notes://{x}/p", "file:///{+x}", "ui://{x}/q", "{+any}"])).map((text) =>
      provider.template(text),
    );
    const tools = some(() => anyUri(random)).map((page, at) =>
      provider.tool({ name: `t${at}`, definition: { ...tool(`t${at}`), _meta: { ui: { resourceUri: page } } } }),
    );
    provider.offer({ resources, templates, tools });
    if (resources.length + templates.length > 0) serving.add(id);
    return provider;
  });
  return { snapshot: await new Catalog(resolveCatalog(), providers).snapshot(), serving };
}

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  "a shown URI leads to its own source or to none, for all lists (seed %i)",
  async (seed) => {
    const random = createRandom(seed);
    const { snapshot, serving } = await anyHub(random);
    for (let at = 0; at < 60; at += 1) {
      const [id, own] = [random.pick(ids), anyUri(random)];
      const shown = snapshot.shownUri(id, own);
      const lookup = snapshot.resolveResource(shown, WHOLE);
      const found = lookup.found ? { id: lookup.source.id, own: lookup.target.uri } : "nowhere";
      const of = `${id}: ${own} is shown as ${shown}`;
      if (found === "nowhere") expect.soft(shown === own || !serving.has(id), of).toBe(true);
      // `git` may list both `https://x` and `git+https://x`; that text then means the second one.
      else if (own.startsWith(`${id}+`) || `${id}+${own}` === found.own) expect.soft(found.id, of).toBe(id);
      else expect.soft(found, of).toEqual({ id, own });
    }
    for (const entry of snapshot.list("tools", WHOLE).entries) {
      const lookup = snapshot.resolveResource(urisIn(entry)[0]!, WHOLE);
      const owner = snapshot.tools(WHOLE).find((one) => one.entry === entry)!.record.source.id;
      expect.soft(lookup.found && lookup.source.id, JSON.stringify(entry)).toBe(owner);
    }
  },
);
