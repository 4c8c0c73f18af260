import { expect, test } from "vitest";
import { MemoryProvider } from "../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import type { Rights } from "../core/ports/rights.ts";
import type { View } from "../core/ports/hub-port.ts";
import { Catalog } from "./catalog.ts";
import { resolveCatalog } from "./options.ts";
import type { Snapshot } from "./snapshot.ts";

function view(rights?: Rights): View {
  return { mode: "normal", principal: rights ? { id: "someone", rights } : LOCAL_PRINCIPAL };
}

async function snapshotOf(...providers: readonly MemoryProvider[]): Promise<Snapshot> {
  const catalog = new Catalog(resolveCatalog(), providers);
  const snapshot = await catalog.snapshot();
  catalog.close();
  return snapshot;
}

function resolve(snapshot: Snapshot, uri: string, rights?: Rights): unknown {
  const lookup = snapshot.resolveResource(uri, view(rights));
  return lookup.found ? [lookup.source.id, lookup.name, lookup.target.uri] : lookup.failure.kind;
}

function docs(id: string, order = 0): MemoryProvider {
  const provider = new MemoryProvider({ id, order });
  provider.offer({
    resources: [provider.resource("docs://a"), provider.resource("docs://b")],
    templates: [provider.template("docs://page/{name}")],
  });
  return provider;
}

test("lists resources by URI with every member of their definition", async () => {
  const provider = new MemoryProvider({ id: "files" });
  provider.offer({ resources: [provider.resource("x://b", { size: 3, "x-new": [1] }), provider.resource("x://a")] });
  expect((await snapshotOf(provider)).list("resources", view()).entries).toEqual([
    { uri: "x://a", name: "x://a" },
    { uri: "x://b", name: "x://b", size: 3, "x-new": [1] },
  ]);
});

test("resolves a listed URI to its resource, a URI of a template to it, and any other to nothing", async () => {
  const snapshot = await snapshotOf(docs("one"));
  expect(snapshot.resolveResource("docs://a", view())).toMatchObject({
    target: { type: "resource", resource: { uri: "docs://a" } },
  });
  expect(snapshot.resolveResource("docs://page/x", view())).toMatchObject({
    target: { template: { uriTemplate: "docs://page/{name}" } },
  });
  expect(snapshot.resolveResource("other://x", view())).toMatchObject({
    found: false,
    failure: { kind: "unknown_tool", message: "Resource 'other://x' not found." },
  });
});

test("shows a URI that two sources list unchanged for the first source, and with a prefix for the second", async () => {
  const snapshot = await snapshotOf(docs("two", 2), docs("one", 1));
  expect(snapshot.list("resources", view()).entries.map((entry) => entry["uri"])).toEqual([
    "docs://a",
    "docs://b",
    "two+docs://a",
    "two+docs://b",
  ]);
  expect(snapshot.list("templates", view()).entries.map((entry) => entry["uriTemplate"])).toEqual([
    "docs://page/{name}",
    "two+docs://page/{name}",
  ]);
  expect(resolve(snapshot, "docs://a")).toEqual(["one", "docs://a", "docs://a"]);
  expect(resolve(snapshot, "two+docs://a")).toEqual(["two", "two+docs://a", "docs://a"]);
  expect(resolve(snapshot, "two+docs://page/x")).toEqual(["two", "two+docs://page/x", "docs://page/x"]);
  expect(snapshot.problems).toHaveLength(3);
});

test("accepts the prefix of a source even if no URI is shadowed", async () => {
  expect(resolve(await snapshotOf(docs("one")), "one+docs://a")).toEqual(["one", "docs://a", "docs://a"]);
});

test("returns the shown URI for a source's own URI that is listed or that matches a template", async () => {
  const snapshot = await snapshotOf(docs("one", 1), docs("two", 2));
  expect(["docs://a", "docs://page/x"].map((uri) => snapshot.shownUri("two", uri))).toEqual([
    "two+docs://a",
    "two+docs://page/x",
  ]);
  expect(["docs://a", "docs://page/x"].map((uri) => snapshot.shownUri("one", uri))).toEqual([
    "docs://a",
    "docs://page/x",
  ]);
});

test("adds a prefix to a tool's user interface URI exactly if the URI of its resource gets one", async () => {
  const uis = ["one", "two"].map((id, order) => {
    const provider = new MemoryProvider({ id, order });
    const definition = {
      name: "t",
      _meta: { ui: { resourceUri: "ui://panel", prefersBorder: true }, "ui/resourceUri": "ui://panel", other: 1 },
    };
    provider.offer({
      tools: [provider.tool({ name: "t", definition, description: "" })],
      resources: [provider.resource("ui://panel")],
    });
    return provider;
  });
  expect((await snapshotOf(...uis)).list("tools", view()).entries.map((entry) => entry["_meta"])).toEqual([
    { ui: { resourceUri: "ui://panel", prefersBorder: true }, "ui/resourceUri": "ui://panel", other: 1 },
    { ui: { resourceUri: "ui://two+panel", prefersBorder: true }, "ui/resourceUri": "ui://two+panel", other: 1 },
  ]);
});

test("reads from a tool's source the user interface that the tool names, even if it is not listed", async () => {
  const other = new MemoryProvider({ id: "other", order: 0 }).offerTools("x");
  const apps = new MemoryProvider({ id: "apps", order: 1 });
  apps.offer({
    tools: [
      apps.tool({
        name: "t",
        definition: { name: "t", _meta: { ui: { resourceUri: "ui://panel" } } },
        description: "",
      }),
    ],
  });
  const snapshot = await snapshotOf(other, apps);
  expect(snapshot.resolveResource("ui://panel", view())).toMatchObject({
    found: true,
    source: { id: "apps" },
    target: { uri: "ui://panel" },
  });
  expect(snapshot.resolveResource("ui://other", view())).toMatchObject({
    found: false,
    failure: { kind: "unknown_tool" },
  });
});

test("resolves a URI to the more specific of two templates of one source", async () => {
  const provider = new MemoryProvider({ id: "x" });
  provider.offer({ templates: [provider.template("x://{+all}"), provider.template("x://item/{id}")] });
  const snapshot = await snapshotOf(provider);
  expect(snapshot.resolveResource("x://item/1", view())).toMatchObject({
    target: { template: { uriTemplate: "x://item/{id}" } },
  });
  expect(snapshot.resolveResource("x://other/1", view())).toMatchObject({
    target: { template: { uriTemplate: "x://{+all}" } },
  });
});

test("sends an unlisted URI to the only source with its scheme, and to none if there are two", async () => {
  expect(resolve(await snapshotOf(docs("one")), "docs://elsewhere/1")).toEqual([
    "one",
    "docs://elsewhere/1",
    "docs://elsewhere/1",
  ]);
  expect(resolve(await snapshotOf(docs("one"), docs("two")), "docs://elsewhere/1")).toBe("unknown_tool");
});

test("S15: compares rights with the shown URI, in every spelling", async () => {
  const snapshot = await snapshotOf(docs("one"));
  const rights = { allow: ["docs://*"], deny: ["docs://a"] };
  expect(snapshot.list("resources", view(rights)).entries.map((entry) => entry["uri"])).toEqual(["docs://b"]);
  expect([
    resolve(snapshot, "docs://b", rights),
    resolve(snapshot, "docs://a", rights),
    resolve(snapshot, "one+docs://a", rights),
  ]).toEqual([["one", "docs://b", "docs://b"], "denied", "denied"]);
});

test("resolves prompts like tools", async () => {
  const provider = new MemoryProvider({ id: "gh" });
  provider.offer({ prompts: [provider.prompt("review", { title: "Review", arguments: [{ name: "pr" }] })] });
  const snapshot = await snapshotOf(provider);
  expect(snapshot.list("prompts", view()).entries).toEqual([
    { name: "gh__review", title: "Review", arguments: [{ name: "pr" }] },
  ]);
  for (const spelling of ["review", "gh::review", "gh__review", "gh.review"]) {
    expect(snapshot.resolvePrompt(spelling, view())).toMatchObject({
      found: true,
      name: "gh__review",
      target: { type: "prompt", prompt: { name: "review" } },
    });
  }
  expect(snapshot.resolvePrompt("reviews", view())).toMatchObject({
    failure: { kind: "unknown_tool", details: { near: ["gh__review"] } },
  });
});

test("completion finds prompts and templates by their shown names, and sends the source its own names", async () => {
  const provider = new MemoryProvider({ id: "two", order: 2 });
  provider.offer({ prompts: [provider.prompt("review")], templates: [provider.template("docs://page/{name}")] });
  const snapshot = await snapshotOf(docs("one", 1), provider);
  expect(snapshot.resolveCompletion({ type: "ref/prompt", name: "two__review" }, view())).toMatchObject({
    source: { id: "two" },
    target: { type: "completion", ref: { type: "ref/prompt", name: "review" } },
  });
  expect(snapshot.resolveCompletion({ type: "ref/resource", uri: "two+docs://page/{name}" }, view())).toMatchObject({
    source: { id: "two" },
    target: { ref: { uri: "docs://page/{name}" }, template: { uriTemplate: "docs://page/{name}" } },
  });
  expect(snapshot.resolveCompletion({ type: "ref/resource", uri: "docs://page/x" }, view())).toMatchObject({
    source: { id: "one" },
    target: { ref: { uri: "docs://page/x" } },
  });
});

test.each([{}, { type: "ref/prompt" }, { type: "ref/else", name: "x" }])(
  "refuses completion for the reference %j",
  async (ref) => {
    expect((await snapshotOf(docs("one"))).resolveCompletion(ref, view())).toMatchObject({
      failure: { kind: "invalid_params" },
    });
  },
);

test("does not read the definitions of all tools again to show a URI", async () => {
  let reads = 0;
  const providers = ["one", "two"].map((id, order) => {
    const provider = new MemoryProvider({ id, order });
    const resourceUri = `ui://${id}`;
    const definition = {
      name: "t",
      inputSchema: { type: "object" },
      get _meta() {
        reads += 1;
        return { ui: { resourceUri } };
      },
    };
    provider.offer({ tools: [provider.tool({ name: "t", definition })], resources: [provider.resource("docs://a")] });
    return provider;
  });
  const snapshot = await snapshotOf(...providers);
  expect(snapshot.shownUri("two", "ui://two")).toBe("ui://two");
  const before = reads;
  for (let at = 0; at < 100; at += 1) snapshot.shownUri("two", `docs://${at}`);
  expect(reads).toBe(before);
});
