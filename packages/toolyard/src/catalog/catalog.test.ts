import { EVERYTHING } from "../core/ports/rights.ts";
import { afterEach, expect, test } from "vitest";
import { cpuMs } from "../../../../test/fixtures/cpu-time.ts";
import { MemoryProvider } from "../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL, type ToolMode } from "../core/calls/call.ts";
import type { Rights } from "../core/ports/rights.ts";
import type { ListChange, View } from "../core/ports/hub-port.ts";
import { EMPTY_LISTING, type Listing } from "../core/sources/records.ts";
import { Catalog } from "./catalog.ts";
import { resolveCatalog, type CatalogConfig } from "./options.ts";
import { searchTools } from "./search/search-tools.ts";
import type { Snapshot } from "./snapshot.ts";

const open: Catalog[] = [];

afterEach(() => {
  for (const catalog of open.splice(0)) catalog.close();
});

function catalogOf(providers: readonly MemoryProvider[], config: CatalogConfig = {}): Catalog {
  const catalog = new Catalog(resolveCatalog({ change_delay_ms: 1, ...config }), providers);
  open.push(catalog);
  return catalog;
}

function view(mode: ToolMode = "normal", rights?: Rights): View {
  return { mode, principal: rights ? { id: "someone", rights } : LOCAL_PRINCIPAL };
}

function names(snapshot: Snapshot, mode: ToolMode = "normal", rights?: Rights): unknown[] {
  return snapshot.list("tools", view(mode, rights)).entries.map((entry) => entry["name"]);
}

function nextChange(catalog: Catalog): Promise<ListChange> {
  return new Promise((resolve) => {
    const stop = catalog.changed.on((change) => {
      stop();
      resolve(change);
    });
  });
}

function discoveryProvider(): MemoryProvider {
  return new MemoryProvider({ id: "builtin", kind: "builtin", namespace: "" }).offerTools(
    { name: "tool_search", role: "discovery" },
    { name: "execute_tool", role: "discovery" },
    { name: "meta.ping", role: "meta", visibility: "ondemand" },
  );
}

test("sorts the list by rendered name, in any order of sources and tools", async () => {
  const b = new MemoryProvider({ id: "b", order: 0 }).offerTools("zeta", "alpha");
  const a = new MemoryProvider({ id: "a", order: 1 }).offerTools("mid");
  expect(names(await catalogOf([b, a]).snapshot())).toEqual(["a__mid", "b__alpha", "b__zeta"]);
});

test("keeps a source's own order in all lists, but not in search results", async () => {
  const b = new MemoryProvider({ id: "b", order: 0 });
  const offer = (...tools: string[]): void =>
    b.offer({
      isOrdered: true,
      tools: tools.map((name) => b.tool({ name, description: "The same words." })),
      resources: [b.resource("test://2"), b.resource("test://1")],
      templates: [b.template("test://{z}/z"), b.template("test://{a}/a")],
      prompts: [b.prompt("z"), b.prompt("a")],
    });
  offer("zeta", "alpha");
  const a = new MemoryProvider({ id: "a", order: 1 }).offerTools("two", "one");
  const catalog = catalogOf([b, a]);
  const shown = async (): Promise<unknown[]> => names(await catalog.snapshot());
  expect(await shown()).toEqual(["a__one", "a__two", "b__zeta", "b__alpha"]);
  const keys = (kind: "resources" | "templates" | "prompts", key: string): unknown[] =>
    catalog.current.list(kind, view()).entries.map((entry) => entry[key]);
  expect([keys("resources", "uri"), keys("templates", "uriTemplate"), keys("prompts", "name")]).toEqual([
    ["test://2", "test://1"],
    ["test://{z}/z", "test://{a}/a"],
    ["b__z", "b__a"],
  ]);
  const found = async (): Promise<string[]> =>
    (await catalog.search("same words", view(), { limit: 5 })).hits.map(({ name }) => String(name));
  expect(await found()).toEqual(["b__alpha", "b__zeta"]);
  const { version } = catalog.current.list("tools", view());
  offer("alpha", "zeta");
  expect(await shown()).toEqual(["a__one", "a__two", "b__alpha", "b__zeta"]);
  expect(catalog.current.list("tools", view()).version).not.toBe(version);
  expect(await found()).toEqual(["b__alpha", "b__zeta"]);
});

test("keeps unknown members of a definition and replaces only the name", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  const inputSchema = {
    type: "object",
    properties: { a: { type: "string", "x-mine": [1] } },
    additionalProperties: false,
  };
  const definition = {
    title: "T",
    name: "t",
    "x-future": { deep: [1, null] },
    description: "D",
    inputSchema,
    icons: [{ src: "data:," }],
    _meta: { k: 1 },
  };
  gh.offer({ tools: [gh.tool({ name: "t", description: "D", inputSchema, definition })] });
  const list = (await catalogOf([gh]).snapshot()).list("tools", view());
  expect(list.json).toBe(JSON.stringify([{ ...definition, name: "gh__t" }]));
});

test("a call to a known tool uses an expired list; a list request and an unknown name do not", async () => {
  const provider = new MemoryProvider({ id: "a" }).offerTools("t");
  const wishes: unknown[] = [];
  const { listing } = provider;
  provider.listing = (wish) => (wishes.push(wish?.mayBeOld ?? false), listing.call(provider));
  const catalog = catalogOf([provider]);
  await catalog.snapshot();
  expect(wishes).toEqual([false]);
  expect(await toolSource(catalog, "a__t")).toBe("a");
  expect(wishes).toEqual([false, true]);
  await toolSource(catalog, "a__u");
  expect(wishes.slice(2)).toEqual([false]);
});

test("every list is private if one source is private; otherwise no list is", async () => {
  const open = new MemoryProvider({ id: "a" }).offerTools("t");
  const closed = new MemoryProvider({ id: "b" });
  const { answer } = closed;
  const isPrivate = async () =>
    (["tools", "resources", "prompts"] as const).map((kind) => catalog.current.list(kind, view()).isPrivate);
  const catalog = new Catalog(resolveCatalog(), [open, closed]);
  await catalog.snapshot();
  expect(await isPrivate()).toEqual([false, false, false]);
  closed.answer = { ...(answer as Listing), isPrivate: true };
  await catalog.snapshot();
  expect(await isPrivate()).toEqual([true, true, true]);
  catalog.close();
});

test("adds the type object to a missing or empty input schema", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  gh.offer({
    tools: [
      gh.tool({ name: "a", inputSchema: {}, definition: { name: "a" } }),
      gh.tool({ name: "b", inputSchema: {}, definition: { name: "b", inputSchema: {} } }),
      gh.tool({
        name: "c",
        inputSchema: { type: "object", properties: { x: {} } },
        definition: { name: "c", inputSchema: { x: {} } },
      }),
    ],
  });
  const schemas = (await catalogOf([gh]).snapshot()).list("tools", view()).entries.map((entry) => entry["inputSchema"]);
  expect(schemas).toEqual([{ type: "object" }, { type: "object" }, { type: "object", properties: { x: {} } }]);
});

test("S15: a configured description and name replace those of the server", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  gh.offer({
    tools: [
      gh.tool({
        name: "t",
        alias: "better",
        description: "Mine.",
        definition: { name: "t", description: "Theirs.", inputSchema: { type: "object" } },
      }),
    ],
  });
  expect((await catalogOf([gh]).snapshot()).list("tools", view()).entries).toEqual([
    { name: "gh__better", description: "Mine.", inputSchema: { type: "object" } },
  ]);
});

test("T12, T21: normal mode lists native tools and no ondemand tools", async () => {
  const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator", {
    name: "send_email",
    visibility: "ondemand",
  });
  expect(names(await catalogOf([tools]).snapshot())).toEqual(["calculator"]);
});

test("T22: lists the discovery tools if at least one ondemand tool exists", async () => {
  const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator", {
    name: "send_email",
    visibility: "ondemand",
  });
  expect(names(await catalogOf([tools, discoveryProvider()]).snapshot())).toEqual([
    "calculator",
    "execute_tool",
    "tool_search",
  ]);
});

test("T22, T28: omits the discovery tools without an ondemand tool, even with the hub's own meta tools", async () => {
  const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator");
  expect(names(await catalogOf([tools, discoveryProvider()]).snapshot())).toEqual(["calculator"]);
});

test("T28: lists the discovery tools in the next request after an ondemand tool was added", async () => {
  const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator");
  const catalog = catalogOf([tools, discoveryProvider()]);
  await catalog.snapshot();
  tools.offerTools("calculator", { name: "send_email", visibility: "ondemand" });
  expect(names(await catalog.snapshot())).toEqual(["calculator", "execute_tool", "tool_search"]);
});

test("T22: does not list the discovery tools for an ondemand tool that the caller may not use", async () => {
  const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator", {
    name: "send_email",
    visibility: "ondemand",
  });
  const snapshot = await catalogOf([tools, discoveryProvider()]).snapshot();
  expect(names(snapshot, "normal", { deny: ["send_*"] })).toEqual(["calculator"]);
});

test("T25: discovery mode lists exactly the two discovery tools, with any number of sources", async () => {
  const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator");
  expect(names(await catalogOf([tools, discoveryProvider()]).snapshot(), "discovery")).toEqual([
    "execute_tool",
    "tool_search",
  ]);
});

test("C31: the mode `all` lists all tools", async () => {
  const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator", {
    name: "send_email",
    visibility: "ondemand",
  });
  expect(names(await catalogOf([tools, discoveryProvider()]).snapshot(), "all")).toEqual([
    "calculator",
    "execute_tool",
    "meta.ping",
    "send_email",
    "tool_search",
  ]);
});

test.each(["normal", "discovery", "all"] as const)(
  "T24, T27: an ondemand tool can be called by name in mode %s",
  async (mode) => {
    const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools({
      name: "send_email",
      visibility: "ondemand",
    });
    expect((await catalogOf([tools]).snapshot()).resolveTool("send_email", view(mode))).toMatchObject({
      found: true,
      name: "send_email",
      target: { type: "tool" },
    });
  },
);

test.each(["normal", "discovery"] as const)(
  "T23, T26: search in mode %s finds native, ondemand and meta tools, but not the discovery tools",
  async (mode) => {
    const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools("calculator", {
      name: "send_email",
      visibility: "ondemand",
    });
    const answer = await catalogOf([tools, discoveryProvider()]).search("", view(mode), { limit: 100 });
    expect(answer.hits.map((hit) => hit.name)).toEqual(["calculator", "meta.ping", "send_email"]);
  },
);

test("S15: rights restrict lists, calls and searches in the same way", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("search", "delete");
  const snapshot = await catalogOf([gh]).snapshot();
  const rights = { allow: ["gh__*"], deny: ["*delete"] };
  expect(names(snapshot, "normal", rights)).toEqual(["gh__search"]);
  expect(snapshot.resolveTool("gh__delete", view("normal", rights))).toMatchObject({ failure: { kind: "denied" } });
  expect(searchTools(snapshot, { query: "delete", view: view("normal", rights), limit: 5 }).hits).toEqual([]);
});

test("S15: another spelling of the name does not bypass the rights", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("delete");
  const snapshot = await catalogOf([gh]).snapshot();
  for (const spelling of ["gh::delete", "delete", "mcp__hub__gh__delete"]) {
    expect(snapshot.resolveTool(spelling, view("normal", { deny: ["gh__delete"] }))).toMatchObject({
      found: false,
      failure: { kind: "denied" },
    });
  }
});

test("S15: read-only rights keep tools that are annotated as read-only, and the search tools", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  const reads = gh.tool({ name: "reads", definition: { name: "reads", annotations: { readOnlyHint: true } } });
  gh.offer({ tools: [reads, gh.tool({ name: "writes" })] });
  const snapshot = await catalogOf([gh, discoveryProvider()]).snapshot();
  expect(names(snapshot, "normal", { readOnly: true })).toEqual(["gh__reads"]);
  expect(names(snapshot, "discovery", { readOnly: true })).toEqual(["execute_tool", "tool_search"]);
});

test("C9: an unknown name fails with up to three similar names", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("search", "merge");
  expect((await catalogOf([gh]).snapshot()).resolveTool("gh__serach", view())).toMatchObject({
    found: false,
    failure: {
      kind: "unknown_tool",
      message: "Unknown tool: gh__serach. Did you mean gh__search?",
      details: { near: ["gh__search"] },
    },
  });
});

test("C9: does not suggest a name that the caller may not use", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("search");
  const lookup = (await catalogOf([gh]).snapshot()).resolveTool("gh__serach", view("normal", { deny: ["gh__search"] }));
  expect(lookup).toMatchObject({ failure: { kind: "denied", details: { near: [] } } });
});

test("C3: a name without prefix that two sources have is ambiguous, and the failure names both tools", async () => {
  const providers = [
    new MemoryProvider({ id: "gh" }).offerTools("search"),
    new MemoryProvider({ id: "gl" }).offerTools("search"),
  ];
  expect((await catalogOf(providers).snapshot()).resolveTool("search", view())).toMatchObject({
    failure: { kind: "ambiguous", details: { candidates: ["gh__search", "gl__search"] } },
  });
});

test("C3: resolves an ambiguous name to the tool that the caller may use", async () => {
  const providers = [
    new MemoryProvider({ id: "gh" }).offerTools("search"),
    new MemoryProvider({ id: "gl" }).offerTools("search"),
  ];
  expect(
    (await catalogOf(providers).snapshot()).resolveTool("search", view("normal", { allow: ["gl__*"] })),
  ).toMatchObject({ found: true, name: "gl__search" });
});

test("C28: the kind, then the order of sources decides whose tool gets a name; others keep full names", async () => {
  const http = new MemoryProvider({ id: "remote", kind: "http", namespace: "", order: 0 }).offerTools("search");
  const second = new MemoryProvider({ id: "two", kind: "scripts", namespace: "", order: 2 }).offerTools("search");
  const first = new MemoryProvider({ id: "one", kind: "scripts", namespace: "", order: 1 }).offerTools("search");
  const snapshot = await catalogOf([http, second, first]).snapshot();
  expect(names(snapshot)).toEqual(["remote__search", "search", "two__search"]);
  expect(snapshot.resolveTool("search", view())).toMatchObject({ source: { id: "one" } });
  expect(snapshot.resolveTool("remote::search", view())).toMatchObject({ source: { id: "remote" } });
  expect(snapshot.problems.map((problem) => problem.message)).toEqual([
    "`search` is offered as `two__search`, since source `one` has that name.",
    "`search` is offered as `remote__search`, since source `one` has that name.",
  ]);
});

test.each(["tool_search", "execute_tool", "execute_code", "meta.mine"])(
  "C29: refuses a user's tool with the name %s, with a problem",
  async (name) => {
    const tools = new MemoryProvider({ id: "tools", namespace: "" }).offerTools(name, "fine");
    const snapshot = await catalogOf([tools]).snapshot();
    expect(names(snapshot)).toEqual(["fine"]);
    expect(snapshot.problems).toMatchObject([{ source: "tools", subject: name }]);
  },
);

test("C29: allows a reserved name in a namespace", async () => {
  const other = new MemoryProvider({ id: "other" }).offerTools("tool_search");
  expect(names(await catalogOf([other]).snapshot())).toEqual(["other__tool_search"]);
});

test("lists a tool once, with a problem, if its source offers it twice", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools(
    { name: "t", description: "First." },
    { name: "t", description: "Second." },
  );
  const snapshot = await catalogOf([gh]).snapshot();
  expect(snapshot.list("tools", view()).entries).toMatchObject([{ name: "gh__t", description: "First." }]);
  expect(snapshot.problems).toMatchObject([{ subject: "t" }]);
});

test("withholds only the tool whose definition is not JSON", async () => {
  const mine = new MemoryProvider({ id: "mine" });
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  mine.offer({
    tools: [
      mine.tool({ name: "bad", definition: { name: "bad", inputSchema: { type: "object" }, _meta: circle } }),
      mine.tool({ name: "good" }),
    ],
  });
  const snapshot = await catalogOf([mine]).snapshot();
  expect(names(snapshot)).toEqual(["mine__good"]);
  expect(snapshot.problems).toMatchObject([{ source: "mine", subject: "bad" }]);
});

test("S12: removes control characters from descriptions, and withholds a tool that has them in an enum", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  const description = "Reads\u001b[31m a file.\u202e Ignore\u{e0041} this.\n\tKept.";
  const inputSchema = {
    type: "object",
    properties: { p: { type: "string", description: "a\u0000b", enum: ["xy"] } },
  };
  const refused = { type: "object", properties: { p: { type: "string", enum: ["x\u0007y"] } } };
  gh.offer({
    tools: [
      gh.tool({ name: "t", description, inputSchema, definition: { name: "t", description, inputSchema } }),
      gh.tool({ name: "u", inputSchema: refused, definition: { name: "u", inputSchema: refused } }),
    ],
  });
  const snapshot = await catalogOf([gh]).snapshot();
  expect(snapshot.list("tools", view()).entries).toMatchObject([
    {
      description: "Reads[31m a file. Ignore this.\n\tKept.",
      inputSchema: { properties: { p: { description: "ab", enum: ["xy"] } } },
    },
  ]);
  expect(snapshot.problems).toMatchObject([
    { source: "gh", subject: "gh__t" },
    { source: "gh", subject: "u", withheld: expect.stringContaining("inputSchema.properties.p.enum.0") },
  ]);
});

test("S12: truncates a description over the limit, with a problem", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  const description = "😀".repeat(100);
  gh.offer({ tools: [gh.tool({ name: "t", description })] });
  const snapshot = await catalogOf([gh], { max_description_chars: 100 }).snapshot();
  expect(snapshot.list("tools", view()).entries[0]!["description"]).toBe(`${"😀".repeat(49)}…`);
  expect(snapshot.problems[0]!.message).toContain("truncated to 100 characters");
});

test("S12: does not change plain text that resembles an escape", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  const definition = { name: "t", description: "Matches \\bword\\b and \\u0007.", inputSchema: { type: "object" } };
  gh.offer({ tools: [gh.tool({ ...definition, definition })] });
  const snapshot = await catalogOf([gh]).snapshot();
  expect(snapshot.list("tools", view()).json).toBe(JSON.stringify([{ ...definition, name: "gh__t" }]));
  expect(snapshot.problems).toEqual([]);
});

test("uses the last list of a source that throws, with a problem", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("t");
  const catalog = catalogOf([gh]);
  await catalog.snapshot();
  gh.answer = () => {
    throw new Error("disk on fire");
  };
  const snapshot = await catalog.snapshot();
  expect(names(snapshot)).toEqual(["gh__t"]);
  expect(snapshot.problems).toMatchObject([
    { source: "gh", message: "Listing failed, so its last known list is used: disk on fire" },
  ]);
  gh.offerTools("t");
  expect((await catalog.snapshot()).problems).toEqual([]);
});

test("uses the last list of a source that rejects, with a problem", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  gh.answer = () => Promise.reject(new Error("gone"));
  expect((await catalogOf([gh]).snapshot()).problems).toMatchObject([{ source: "gh" }]);
});

test("waits for an unresponsive source once, within the limit, and not in later requests", async () => {
  const slow = new MemoryProvider({ id: "slow" });
  let answer: (listing: Listing) => void = () => {};
  slow.answer = () => new Promise<Listing>((resolve) => (answer = resolve));
  const catalog = catalogOf([slow, new MemoryProvider({ id: "quick" }).offerTools("t")], { list_wait_ms: 20 });
  const snapshot = await catalog.snapshot();
  expect(names(snapshot)).toEqual(["quick__t"]);
  expect(snapshot.problems).toMatchObject([{ source: "slow" }]);
  await catalog.snapshot();
  expect(slow.asked).toBe(1);
  const change = nextChange(catalog);
  answer({ ...EMPTY_LISTING, tools: [slow.tool({ name: "late" })] });
  slow.offerTools("late");
  expect(await change).toEqual({ lists: ["tools"] });
  expect(names(catalog.current)).toEqual(["quick__t", "slow__late"]);
});

test("a call to one source does not wait for a slower source of lower precedence", async () => {
  const slow = new MemoryProvider({ id: "slow", order: 2 });
  slow.answer = () => new Promise<Listing>(() => {});
  const catalog = catalogOf([new MemoryProvider({ id: "quick", order: 1 }).offerTools("t"), slow], {
    list_wait_ms: 60_000,
  });
  const lookup = await catalog.lookUp({ text: "quick__t", isUri: false, view: view() }, (snapshot) =>
    snapshot.resolveTool("quick__t", view()),
  );
  expect(lookup).toMatchObject({ found: true, source: { id: "quick" } });
});

test("a call waits for its source and those of higher precedence; an unlisted name waits for all sources", async () => {
  const first = new MemoryProvider({ id: "first", namespace: "", order: 1 });
  const second = new MemoryProvider({ id: "second", namespace: "", order: 2 }).offerTools("t");
  const third = new MemoryProvider({ id: "third", order: 3 });
  const catalog = catalogOf([first, second, third]);
  const lookUp = async (name: string): Promise<unknown> => {
    const lookup = await catalog.lookUp({ text: name, isUri: false, view: view() }, (snapshot) =>
      snapshot.resolveTool(name, view()),
    );
    return lookup.found ? lookup.source.id : lookup.failure.kind;
  };
  third.answer = async () => ({ ...EMPTY_LISTING, tools: [third.tool({ name: "t" })] });
  expect(await lookUp("third__t")).toBe("third");
  expect(await lookUp("second::t")).toBe("second");
  first.answer = async () => ({ ...EMPTY_LISTING, tools: [first.tool({ name: "t" })] });
  expect(await lookUp("t")).toBe("first");
});

test("a call to a known tool does not request sources of lower precedence, and finds a tool that moved", async () => {
  const first = new MemoryProvider({ id: "first", namespace: "", order: 1 }).offerTools("t");
  const second = new MemoryProvider({ id: "second", namespace: "", order: 2 });
  const catalog = catalogOf([first, second]);
  await catalog.snapshot();
  let asked = 0;
  second.answer = () => {
    asked += 1;
    return { ...EMPTY_LISTING, tools: [second.tool({ name: "t" })] };
  };
  const lookUp = async (): Promise<unknown> => {
    const lookup = await catalog.lookUp({ text: "t", isUri: false, view: view() }, (snapshot) =>
      snapshot.resolveTool("t", view()),
    );
    return lookup.found ? lookup.source.id : lookup.failure.kind;
  };
  expect([await lookUp(), asked]).toEqual(["first", 0]);
  first.answer = () => EMPTY_LISTING;
  expect([await lookUp(), asked]).toEqual(["second", 1]);
});

test("returns the same snapshot and list if nothing changed", async () => {
  const catalog = catalogOf([new MemoryProvider({ id: "gh" }).offerTools("t")]);
  const first = await catalog.snapshot();
  const second = await catalog.snapshot();
  expect(second).toBe(first);
  expect(second.list("tools", view())).toBe(
    first.list("tools", { mode: "normal", principal: { id: "other", rights: EVERYTHING } }),
  );
});

test("a change in one source does not change the entries of the others", async () => {
  const [a, b] = [new MemoryProvider({ id: "a" }).offerTools("t"), new MemoryProvider({ id: "b" }).offerTools("t")];
  const catalog = catalogOf([a, b]);
  const before = (await catalog.snapshot()).list("tools", view()).entries;
  b.offerTools("t", "u");
  const after = (await catalog.snapshot()).list("tools", view()).entries;
  expect(after[0]).toBe(before[0]);
  expect(after).toHaveLength(3);
});

test("the version of a list changes if and only if its content changes", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("t");
  const catalog = catalogOf([gh]);
  const versions = [(await catalog.snapshot()).list("tools", view()).version];
  gh.offerTools("t");
  versions.push((await catalog.snapshot()).list("tools", view()).version);
  gh.offerTools({ name: "t", description: "New." });
  versions.push((await catalog.snapshot()).list("tools", view()).version);
  expect(versions[0]).toBe(versions[1]);
  expect(versions[2]).not.toBe(versions[1]);
});

test("T34: a hundred concurrent callers cause at most two list requests, and see all earlier changes", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  const waiting: (() => void)[] = [];
  let tools = ["old"];
  gh.answer = () => {
    const seen = tools;
    return new Promise<Listing>((resolve) =>
      waiting.push(() => resolve({ ...EMPTY_LISTING, tools: seen.map((name) => gh.tool({ name })) })),
    );
  };
  const catalog = catalogOf([gh]);
  const early = catalog.snapshot();
  tools = ["new"];
  const late = Array.from({ length: 100 }, () => catalog.snapshot());
  waiting.shift()!();
  await early;
  await expect.poll(() => waiting.length).toBe(1);
  waiting.shift()!();
  expect(new Set((await Promise.all(late)).flatMap((snapshot) => names(snapshot)))).toEqual(new Set(["gh__new"]));
  expect(gh.asked).toBe(2);
});

test("adds and removes sources while it runs", async () => {
  const catalog = catalogOf([new MemoryProvider({ id: "a" }).offerTools("t")]);
  catalog.add(new MemoryProvider({ id: "b" }).offerTools("t"));
  expect(names(await catalog.snapshot())).toEqual(["a__t", "b__t"]);
  expect(catalog.remove("a")).toBe(true);
  expect(catalog.remove("a")).toBe(false);
  expect(names(await catalog.snapshot())).toEqual(["b__t"]);
});

test("refuses two sources with the same id", () => {
  expect(() => catalogOf([new MemoryProvider({ id: "a" }), new MemoryProvider({ id: "a" })])).toThrow(
    "Two sources are called `a`",
  );
});

test("emits one event with the changed lists for many announcements in a short time", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("t");
  const catalog = catalogOf([gh]);
  await catalog.snapshot();
  const heard: ListChange[] = [];
  catalog.changed.on((change) => heard.push(change));
  const change = nextChange(catalog);
  gh.offer({ tools: [gh.tool({ name: "u" })], prompts: [gh.prompt("p")] });
  for (let burst = 0; burst < 50; burst += 1) gh.events.changed.emit();
  await change;
  expect(heard).toEqual([{ lists: ["tools", "prompts"] }]);
});

test("emits no event for an announcement without a visible change", async () => {
  const [quiet, loud] = [new MemoryProvider({ id: "quiet" }).offerTools("t"), new MemoryProvider({ id: "loud" })];
  const catalog = catalogOf([quiet, loud]);
  await catalog.snapshot();
  const heard: ListChange[] = [];
  catalog.changed.on((change) => heard.push(change));
  quiet.offerTools({ name: "t", keywords: ["only for search"] });
  quiet.events.changed.emit();
  await expect.poll(() => quiet.asked).toBeGreaterThan(1);
  const change = nextChange(catalog);
  loud.offer({ resources: [loud.resource("x://a")] });
  loud.events.changed.emit();
  await change;
  expect(heard).toEqual([{ lists: ["resources"] }]);
});

test("C33: reports to all other callers a change that a request of one caller found", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("t");
  const catalog = catalogOf([gh]);
  await catalog.snapshot();
  const change = nextChange(catalog);
  gh.offerTools({ name: "t", visibility: "ondemand" });
  await catalog.snapshot();
  expect(await change).toEqual({ lists: ["tools"] });
});

test("sends no requests and announces nothing after close", async () => {
  const gh = new MemoryProvider({ id: "gh" }).offerTools("t");
  const catalog = catalogOf([gh]);
  await catalog.snapshot();
  catalog.close();
  gh.offerTools("u");
  gh.events.changed.emit();
  expect(names(await catalog.snapshot())).toEqual(["gh__t"]);
  expect([gh.asked, gh.events.changed.size]).toEqual([1, 0]);
});

test("reports counts and problems by source", async () => {
  const gh = new MemoryProvider({ id: "gh" });
  const problem = { source: "gh", subject: "x", message: "broken" };
  gh.offer({
    tools: [gh.tool({ name: "t" })],
    resources: [gh.resource("x://a")],
    prompts: [gh.prompt("p")],
    problems: [problem],
  });
  const snapshot = await catalogOf([gh, new MemoryProvider({ id: "b" }).offerTools("t")]).snapshot();
  expect(snapshot.counts.total).toEqual({ tools: 2, resources: 1, templates: 0, prompts: 1 });
  expect(snapshot.counts.bySource.get("gh")).toEqual({ tools: 1, resources: 1, templates: 0, prompts: 1 });
  expect(snapshot.problems).toEqual([problem]);
});

test("prepares, lists and lists again 10,000 tools in order and within the time limits", async () => {
  const providers = Array.from({ length: 20 }, (_, server) =>
    new MemoryProvider({ id: `server${server}`, order: server }).offerTools(
      ...Array.from({ length: 500 }, (_, at) => ({
        name: `tool_${(at * 7919) % 500}`,
        description: `Does thing ${at} of server ${server} with great care and some more words.`,
        inputSchema: {
          type: "object",
          properties: { path: { type: "string", description: "Where" }, limit: { type: "integer", default: 10 } },
        },
      })),
    ),
  );
  const catalog = catalogOf(providers);
  const times = [cpuMs()];
  const first = (await catalog.snapshot()).list("tools", view());
  expect(first.json.length).toBeGreaterThan(1_000_000);
  times.push(cpuMs());
  for (let round = 0; round < 1000; round += 1) (await catalog.snapshot()).list("tools", view());
  times.push(cpuMs());
  providers[7]!.offerTools("only");
  expect((await catalog.snapshot()).list("tools", view()).entries).toHaveLength(9501);
  times.push(cpuMs());
  const listed = first.entries.map((entry) => String(entry["name"]));
  expect(listed).toEqual(listed.toSorted());
  // The limits are ten times the duration on an idle machine of 2025.
  expect(times[1]! - times[0]!).toBeLessThan(1600);
  expect(times[2]! - times[1]!).toBeLessThan(150);
  expect(times[3]! - times[2]!).toBeLessThan(600);
});

test.each([
  ["separator", { separator: " " }],
  ["separator", { separator: "" }],
  ["max_description_chars", { max_description_chars: 3 }],
  ["list_wait_ms", { list_wait_ms: 0.5 }],
  ["cold_wait", { cold_wait: "2h" }],
  ["cold_wait", { cold_wait: "soon" }],
])("refuses an invalid %s", (key, config) => {
  expect(() => resolveCatalog(config)).toThrow(`\`${key}\` must be`);
});

/**
 * Returns a source that was never listed, and the function that completes its first list. A call whose name may belong
 * to the source waits for that list, at most `waitMs` milliseconds.
 */
function coldProvider(
  source: ConstructorParameters<typeof MemoryProvider>[0],
  waitMs: number,
): { provider: MemoryProvider; list(listing: Partial<Listing>): void } {
  const provider = new MemoryProvider(source);
  let settle = (): void => {};
  const over = new Promise<void>((resolve) => (settle = resolve));
  provider.cold = { waitUntil: performance.now() + waitMs, over };
  let first: Partial<Listing> = {};
  provider.answer = async () => {
    if (waitMs > 0) await over;
    return { ...EMPTY_LISTING, ...first };
  };
  const list = (listing: Partial<Listing>): void => {
    provider.cold = undefined;
    first = listing;
    settle();
    provider.offer(listing);
  };
  return { provider, list };
}

async function resourceSource(catalog: Catalog, uri: string, rights?: Rights): Promise<unknown> {
  const asking = view("all", rights);
  const lookup = await catalog.lookUp({ text: uri, isUri: true, view: asking }, (snapshot) =>
    snapshot.resolveResource(uri, asking),
  );
  return lookup.found ? lookup.source.id : [lookup.failure.kind, lookup.failure.details];
}

async function toolSource(catalog: Catalog, name: string, rights?: Rights): Promise<unknown> {
  const asking = view("all", rights);
  const lookup = await catalog.lookUp({ text: name, isUri: false, view: asking }, (snapshot) =>
    snapshot.resolveTool(name, asking),
  );
  return lookup.found ? lookup.source.id : [lookup.failure.kind, lookup.failure.details];
}

test.each(["cold__t", "cold::t", "cold.t", "cold/t", "mcp__cold__t", "mcp__my__hub__cold__t"])(
  "a call of %s waits until the source with its prefix is listed, even if other sources are starting too",
  async (name) => {
    const cold = coldProvider({ id: "cold", order: 1 }, 0);
    const other = coldProvider({ id: "other", order: 0 }, 600_000);
    const asking = toolSource(catalogOf([cold.provider, other.provider]), name);
    cold.list({ tools: [cold.provider.tool({ name: "t" })] });
    expect(await asking).toBe("cold");
  },
);

test("a name without prefix is unavailable while sources start, and unknown afterwards", async () => {
  const [a, b] = [coldProvider({ id: "a", order: 0 }, 0), coldProvider({ id: "b", order: 1 }, 0)];
  const catalog = catalogOf([a.provider, b.provider]);
  expect(await toolSource(catalog, "t")).toEqual(["unavailable", { starting: ["a", "b"] }]);
  expect(await toolSource(catalog, "nobody__t")).toEqual(["unavailable", { starting: ["a", "b"] }]);
  a.list({});
  expect(await toolSource(catalog, "t")).toEqual(["unavailable", { starting: ["b"] }]);
  b.list({});
  expect(await toolSource(catalog, "t")).toEqual(["unknown_tool", { near: [] }]);
});

test("a lookup of a listed name without prefix waits only for sources of higher precedence", async () => {
  const cold = coldProvider({ id: "cold", namespace: "", order: 1 }, 600_000);
  const warm = new MemoryProvider({ id: "warm", namespace: "", order: 0 }).offerTools("t");
  expect(await toolSource(catalogOf([warm, cold.provider]), "t")).toBe("warm");
  const better = coldProvider({ id: "better", namespace: "", order: 0 }, 600_000);
  const asking = toolSource(
    catalogOf([better.provider, new MemoryProvider({ id: "warm", namespace: "", order: 1 }).offerTools("t")]),
    "t",
  );
  better.list({ tools: [better.provider.tool({ name: "t" })] });
  expect(await asking).toBe("better");
});

test("a lookup of a URI waits for starting sources, unless the URI is listed", async () => {
  const cold = coldProvider({ id: "cold", order: 1 }, 600_000);
  const warm = new MemoryProvider({ id: "warm", order: 0 });
  warm.offer({ resources: [warm.resource("x://other")] });
  const catalog = catalogOf([warm, cold.provider]);
  await toolSource(catalog, "warm__t");
  expect(await resourceSource(catalog, "x://other")).toBe("warm");
  const asking = resourceSource(catalog, "x://one");
  cold.list({ resources: [cold.provider.resource("x://one")] });
  expect(await asking).toBe("cold");
});

test("a lookup of a URI with the prefix of a listed source does not wait", async () => {
  const cold = coldProvider({ id: "cold", order: 1 }, 600_000);
  const catalog = catalogOf([new MemoryProvider({ id: "warm", order: 0 }), cold.provider]);
  expect(await resourceSource(catalog, "warm+x://nothing")).toMatchObject(["unknown_tool", {}]);
});

test("the failure of a lookup does not name sources that the caller may not use", async () => {
  const [a, b] = [coldProvider({ id: "a", order: 0 }, 0), coldProvider({ id: "b", order: 1 }, 0)];
  const catalog = catalogOf([a.provider, b.provider]);
  expect(await toolSource(catalog, "t", { allow: ["b__*"] })).toEqual(["unavailable", { starting: ["b"] }]);
  expect(await toolSource(catalog, "a::t", { allow: ["b__*"] })).toMatchObject(["denied", {}]);
  expect(await resourceSource(catalog, "x://one", { allow: ["b__*"] })).toMatchObject(["denied", {}]);
});

test("announces changes of other sources while one is starting", async () => {
  const cold = coldProvider({ id: "cold", order: 1 }, 600_000);
  const warm = new MemoryProvider({ id: "warm", order: 0 }).offerTools("t");
  const catalog = catalogOf([warm, cold.provider]);
  expect(await toolSource(catalog, "warm__t")).toBe("warm");
  const change = nextChange(catalog);
  warm.offerTools("t", "u");
  warm.events.changed.emit();
  expect(await change).toEqual({ lists: ["tools"] });
});
