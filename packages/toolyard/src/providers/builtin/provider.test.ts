import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import { Deadline } from "../../core/calls/deadline.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import type { SearchFilter, SearchHit, SearchInstead } from "../../core/ports/ports.ts";
import type { ResolvedCall } from "../../core/sources/provider.ts";
import { resolveBuiltin, type BuiltinConfig } from "./options.ts";
import type { BuiltinPorts } from "./ports.ts";
import { BuiltinProvider } from "./provider.ts";

const STARTED = 1_700_000_000_000;

interface Yard {
  readonly provider: BuiltinProvider;
  /** Recorded inner calls: tool and arguments. */
  readonly calls: [string, JsonObject][];
  /** Recorded searches: query and limit. */
  readonly searches: [string, number][];
  readonly filters: (SearchFilter | undefined)[];
}

function yard(
  options: {
    config?: BuiltinConfig;
    hits?: readonly SearchHit[];
    total?: number;
    instead?: SearchInstead;
    outcome?: Outcome;
    unready?: readonly string[];
  } = {},
): Yard {
  const { config, hits = [], total = hits.length, instead, outcome = ok({ content: [] }), unready = [] } = options;
  const calls: [string, JsonObject][] = [];
  const searches: [string, number][] = [];
  const filters: (SearchFilter | undefined)[] = [];
  const ports: BuiltinPorts = {
    innerHub: {
      call: async ({ tool, arguments: args }) => {
        calls.push([tool, args]);
        return outcome;
      },
      search: async (query, _parent, { limit, ...filter }) => {
        searches.push([query, limit]);
        filters.push(filter);
        return { hits: hits.slice(0, limit), total, ...(instead && { instead }) };
      },
      read: (uri) => Promise.resolve(fail("unknown_tool", `There is no resource ${uri}.`)),
      list: async () => [],
    },
    resolveName: (name) => (/(^|__)execute_tool$/.test(name) ? "execute_tool" : name),
    unreadyServers: () => unready,
    status: () => ({
      serverName: "toolyard",
      serverVersion: "1.2.3",
      startedAt: STARTED,
      modules: ["src.export.mcp"],
      tools: 12,
      resources: 3,
      transports: ["http"],
      authentication: "bearer",
      encryption: "none",
    }),
    capabilities: async () => ({ mcp_version: "1.0-gnn", tools: [] }),
    module: (name) =>
      name === "src.export.mcp" ? { name, path: "export/mcp.ts", tools: ["a", "b", "c", "d", "e", "f"] } : undefined,
    logLines: (count) => ["one", "two", "three"].slice(-count),
  };
  return {
    provider: new BuiltinProvider({ ...resolveBuiltin(config), maxWallMs: 60_000 }, ports, () => STARTED + 90_061_500),
    calls,
    searches,
    filters,
  };
}

async function call({ provider }: Yard, name: string, args: JsonObject = {}): Promise<Outcome> {
  const tool = provider.listing().tools.find((one) => one.name === name)!;
  const deadline = new Deadline({ idleMs: 1000, totalMs: 1000 });
  const resolved: ResolvedCall = {
    id: "1",
    endpoint: "library",
    method: "tools/call",
    target: name,
    params: {},
    arguments: args,
    meta: {},
    principal: LOCAL_PRINCIPAL,
    mode: "all",
    client: { capabilities: {} },
    signal: deadline.signal,
    deadline,
    wants: { progress: false },
    notify: () => {},
    ask: () => Promise.reject(new Error("nobody to ask")),
    relaysInput: false,
    record: { type: "tool", tool },
  };
  try {
    return await provider.call(resolved);
  } finally {
    deadline.clear();
  }
}

function texts(outcome: Outcome): string[] {
  return outcome.ok ? (outcome.result["content"] as { text: string }[]).map((item) => item.text) : [];
}

function hitsOf(count: number): SearchHit[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `tool_${at}`,
    server: "tool",
    description: `Does ${at}. And more.`,
    score: 1 - at / 1000,
    inputSchema: { type: "object" },
  }));
}

test("lists two native search tools, and meta tools that only search finds", () => {
  const { tools } = yard().provider.listing();
  expect(tools.map((tool) => [tool.name, tool.role, tool.visibility])).toEqual([
    ["tool_search", "discovery", "native"],
    ["execute_tool", "discovery", "native"],
    ["meta.get_server_status", "meta", "ondemand"],
    ["meta.get_full_capabilities", "meta", "ondemand"],
    ["meta.get_module_info", "meta", "ondemand"],
    ["meta.ping", "meta", "ondemand"],
  ]);
});

test.each([
  ["native", "native"],
  ["ondemand", "ondemand"],
  [undefined, "ondemand"],
] as const)("C39: with `meta_visibility` %s, lists the meta tools as %s", (meta_visibility, visibility) => {
  const config = meta_visibility === undefined ? {} : { meta_visibility };
  const { tools } = yard({ config }).provider.listing();
  expect(tools.filter(({ role }) => role === "meta").map((tool) => tool.visibility)).toEqual(
    Array.from({ length: 4 }, () => visibility),
  );
});

test("disables the meta tools and enables the log tool if configured", () => {
  const names = (config: BuiltinConfig): string[] =>
    yard({ config })
      .provider.listing()
      .tools.map((tool) => tool.name);
  expect(names({ meta_tools: false })).toEqual(["tool_search", "execute_tool"]);
  expect(names({ server_logs: true })).toContain("meta.get_server_logs");
});

test("returns the same listing object again", () => {
  const { provider } = yard();
  expect(provider.listing()).toBe(provider.listing());
});

test("tool_search returns one text: an array of name, description, score and schema", async () => {
  const answer = await call(yard({ hits: hitsOf(2) }), "tool_search", { query: "does" });
  expect(texts(answer).map((text) => JSON.parse(text) as unknown)).toEqual([
    hitsOf(2).map(({ name, description, score, inputSchema }) => ({ name, description, score, inputSchema })),
  ]);
});

/** Returns hits with one parameter each. The score of each hit is lower by `fall` than that of the hit before. */
function fallingHits(fall: number): SearchHit[] {
  return hitsOf(30).map((hit, at) => ({
    ...hit,
    score: 0.9 - at * fall,
    inputSchema: { type: "object", properties: { [`of_${at}`]: { type: "string" } } },
  }));
}

async function entriesOf(hits: readonly SearchHit[], args: JsonObject = {}): Promise<JsonObject[]> {
  const [first] = texts(await call(yard({ hits }), "tool_search", { query: "does", ...args }));
  return JSON.parse(first!) as JsonObject[];
}

const hasSchema = (entry: JsonObject): boolean => "inputSchema" in entry;

test("without max_results, a clear result has one schema, and parameter lists for four other hits", async () => {
  const [first, ...others] = await entriesOf(fallingHits(0.03));
  expect(Object.keys(first!)).toEqual(["name", "description", "score", "inputSchema"]);
  expect(others).toEqual(
    [1, 2, 3, 4].map((at) => ({
      name: `tool_${at}`,
      description: `Does ${at}.`,
      score: 0.9 - at * 0.03,
      parameters: [`of_${at}`],
    })),
  );
});

test("an unclear result has three schemas, or fewer if they are long", async () => {
  expect((await entriesOf(fallingHits(0.001))).map(hasSchema)).toEqual([true, true, true, false, false]);
  const long = fallingHits(0.001).map((hit) => ({ ...hit, description: "long ".repeat(300) }));
  expect((await entriesOf(long)).map(hasSchema)).toEqual([true, false, false, false, false]);
});

test.each([{ max_results: 5 }, { max_results: 0 }, { detail: "full" }])(
  "%j returns five hits with schema",
  async (args) => {
    expect((await entriesOf(fallingHits(0.03), args)).map(hasSchema)).toEqual([true, true, true, true, true]);
  },
);

test("without max_results, four more hits have one line each, and the others only a name", async () => {
  const [, second] = texts(await call(yard({ hits: hitsOf(60), total: 60 }), "tool_search", { query: "does" }));
  const lines = second!.split("\n");
  expect(lines[0]).toContain("60 tools match in all");
  expect(lines.slice(1, 5)).toEqual([5, 6, 7, 8].map((at) => `- tool_${at}: Does ${at}.`));
  expect(lines[5]).toBe(`- ${Array.from({ length: 16 }, (_, at) => `tool_${at + 9}`).join(", ")}`);
  expect(lines[6]).toContain("and 35 more");
});

test("max_results returns that many hits with schema, one line for each of 20 more, and the total", async () => {
  const place = yard({ hits: hitsOf(60), total: 60 });
  const [first, second] = texts(await call(place, "tool_search", { query: "does", max_results: 5 }));
  expect(place.searches).toEqual([["does", 25]]);
  expect(JSON.parse(first!)).toHaveLength(5);
  const lines = second!.split("\n");
  expect(lines[0]).toContain("60 tools match in all");
  expect(lines.slice(1, 21)).toEqual(
    hitsOf(25)
      .slice(5)
      .map((hit, at) => `- ${hit.name}: Does ${at + 5}.`),
  );
  expect(lines[21]).toContain("and 35 more");
});

test.each([
  [0, 5],
  [-1, 5],
  ["many", 5],
  [null, 5],
  [3, 3],
  [1000, 100],
])("tool_search reads max_results %j as %i", async (given, meant) => {
  const place = yard({ hits: hitsOf(150) });
  const [first] = texts(await call(place, "tool_search", { query: "does", max_results: given }));
  expect(JSON.parse(first!)).toHaveLength(meant);
});

test("tool_search without a query lists all tools and their number", async () => {
  const [first, second] = texts(await call(yard({ hits: hitsOf(2) }), "tool_search"));
  expect(JSON.parse(first!)).toHaveLength(2);
  expect(second).toBe("There are 2 tools in all.");
});

test("tool_search without hits returns the prescribed sentence", async () => {
  expect(texts(await call(yard(), "tool_search", { query: "x" }))).toEqual([
    "No tools found. Try different keywords or a broader search term.",
  ]);
});

test("tool_search without hits names similar tools and the servers", async () => {
  const instead = {
    near: ["a__read_file"],
    servers: [
      { id: "a", tools: 3 },
      { id: "b", tools: 1 },
    ],
    noSuchServer: true,
  };
  const [, second] = texts(await call(yard({ instead }), "tool_search", { query: "x", server: "c" }));
  expect(second).toBe(
    "There is no server `c`.\nSimilar names: a__read_file.\nServers, with their number of tools: a (3), b (1).",
  );
});

test("tool_search, execute_tool and the status name servers that are not ready, if there are any", async () => {
  const unready = ["installing: memory, 12 s", "down: jira: no such package, 40 s"];
  const sentence = unready.join("; ");
  const found = texts(await call(yard({ hits: hitsOf(1), unready }), "tool_search", { query: "x" }));
  expect(found.at(-1)).toBe(`Not ready, so tools may be missing here: ${sentence}.`);
  const nothing = texts(await call(yard({ unready }), "tool_search", { query: "x" }));
  expect(nothing[1]).toBe(`Not ready, so tools may be missing here: ${sentence}.`);
  const unknown = fail("unknown_tool", "Unknown tool: x");
  const failed = await call(yard({ outcome: unknown, unready }), "execute_tool", { name: "x" });
  expect(failed).toMatchObject({ message: expect.stringContaining(`Servers that are not ready: ${sentence}.`) });
  const status = await call(yard({ unready }), "meta.get_server_status");
  expect(status).toMatchObject({ result: { structuredContent: { servers_not_ready: unready } } });
  expect(JSON.stringify(await call(yard(), "meta.get_server_status"))).not.toContain("not_ready");
  expect(JSON.stringify(await call(yard({ hits: hitsOf(1) }), "tool_search", { query: "x" }))).not.toContain("ready");
});

test("tool_search passes on its server and read-only filters", async () => {
  const place = yard({ hits: hitsOf(1) });
  await call(place, "tool_search", { query: "x", server: "a", read_only: true });
  await call(place, "tool_search", { query: "x" });
  expect(place.filters).toEqual([
    { server: "a", readOnly: true, nearest: true },
    { readOnly: false, nearest: true },
  ]);
});

test("tool_search names the server of an abbreviated hit if the tool's name does not begin with it", async () => {
  const hits = hitsOf(6).map((hit) => ({ ...hit, server: "elsewhere" }));
  const [, second] = texts(await call(yard({ hits }), "tool_search", { query: "x" }));
  expect(second).toContain("- tool_5 (elsewhere): Does 5.");
});

test("tool_search advises to search in steps after a long query, but not after a short one", async () => {
  const advice = (query: string) =>
    call(yard({ hits: hitsOf(1) }), "tool_search", { query }).then((outcome) =>
      texts(outcome).at(-1)!.includes("one step"),
    );
  expect(await advice("word ".repeat(30))).toBe(true);
  expect(await advice("send an email")).toBe(false);
});

test("tool_search with brief detail omits the schemas and all but the first sentence", async () => {
  const [first] = texts(await call(yard({ hits: hitsOf(1) }), "tool_search", { query: "x", detail: "brief" }));
  expect(JSON.parse(first!)).toEqual([{ name: "tool_0", description: "Does 0.", score: 1 }]);
});

test("a brief result states the number of matching tools and repeats none", async () => {
  const place = yard({ hits: hitsOf(60), total: 60 });
  const answer = texts(await call(place, "tool_search", { query: "x", detail: "brief", max_results: 20 }));
  expect(JSON.parse(answer[0]!)).toHaveLength(20);
  expect(answer.slice(1)).toEqual(["60 tools match in all."]);
});

test("the list in discovery mode needs at most 1,200 bytes for its two tools", () => {
  const listed = yard()
    .provider.listing()
    .tools.filter((tool) => tool.role === "discovery")
    .map((tool) => tool.definition);
  expect(listed).toHaveLength(2);
  // `_meta` is removed, because clients do not pass it to models.
  const shown = listed.map(({ _meta, ...tool }) => tool);
  expect(JSON.stringify({ tools: shown }).length).toBeLessThanOrEqual(1200);
  expect(JSON.stringify({ tools: listed }).length).toBeLessThanOrEqual(1400);
});

test("shortens a description of many lines to one line among the further hits", async () => {
  const hits = hitsOf(6).map((hit) => ({ ...hit, description: `Long\n\nwords ${"and more ".repeat(100)}` }));
  const [, second] = texts(await call(yard({ hits }), "tool_search", { query: "x" }));
  const line = second!.split("\n")[1]!;
  expect(line).toMatch(/^- tool_5: Long words and more .*…$/);
  expect(line.length).toBeLessThan(120);
});

test("T29: execute_tool calls the tool and returns its result unchanged", async () => {
  const outcome = ok({
    content: [{ type: "text", text: "7" }],
    structuredContent: { sum: 7 },
    _meta: { x: 1 },
    later: true,
  });
  const place = yard({ outcome });
  expect(await call(place, "execute_tool", { name: "calculator", arguments: { a: 3, b: 4 } })).toBe(outcome);
  expect(place.calls).toEqual([["calculator", { a: 3, b: 4 }]]);
});

test("execute_tool returns the tool's own failure unchanged", async () => {
  const outcome = fail("timeout", "Timed out.");
  expect(await call(yard({ outcome }), "execute_tool", { name: "slow" })).toBe(outcome);
});

test.each([
  ["parameters", { parameters: { a: 1 } }, { a: 1 }],
  ["the text of an object", { arguments: '{"a":1}' }, { a: 1 }],
  ["parameters as text", { parameters: '{"a":1}' }, { a: 1 }],
  ["both, the same", { arguments: { a: 1 }, parameters: '{"a":1}' }, { a: 1 }],
  ["neither", {}, {}],
  ["null", { arguments: null }, {}],
  ["an empty text", { arguments: "" }, {}],
])("C5: execute_tool accepts %s", async (_, given, meant) => {
  const place = yard();
  await call(place, "execute_tool", { name: "t", ...given });
  expect(place.calls).toEqual([["t", meant]]);
});

test.each([
  ["both, different", { arguments: { a: 1 }, parameters: { a: 2 } }],
  ["a text that is not JSON", { arguments: "a=1" }],
  ["the text of an array", { arguments: "[1]" }],
  ["a number", { parameters: 3 }],
])("C5: execute_tool rejects %s", async (_, given) => {
  const place = yard();
  expect(await call(place, "execute_tool", { name: "t", ...given })).toMatchObject({
    ok: false,
    kind: "invalid_params",
  });
  expect(place.calls).toEqual([]);
});

test("C9: execute_tool with an unknown name fails with the prescribed hint", async () => {
  const outcome = fail("unknown_tool", "Unknown tool: nope.");
  expect(await call(yard({ outcome }), "execute_tool", { name: "nope" })).toMatchObject({
    kind: "tool_error",
    message: "Tool not found: nope. Use tool_search to discover available tools.",
  });
});

test("execute_tool suggests similar names for an unknown name, else tools that match words of the name", async () => {
  const message = async (near: string[], hits: readonly SearchHit[]): Promise<string> => {
    const outcome = fail("unknown_tool", "Unknown tool.", { details: { near } });
    const answer = await call(yard({ outcome, hits }), "execute_tool", { name: "gone" });
    return answer.ok ? "" : answer.message;
  };
  const words = "Tool not found: gone. Use tool_search to discover available tools.";
  expect(await message(["gong"], hitsOf(1))).toBe(`${words} Similar tools: gong.`);
  expect(await message([], hitsOf(2))).toBe(`${words} Similar tools: tool_0, tool_1.`);
  expect(await message([], [])).toBe(words);
});

const SIBLINGS: readonly SearchHit[] = [
  { name: "read_row", properties: { id: { type: "integer" } }, required: ["id"] },
  { name: "find_rows", properties: { text: { type: "string" }, limit: { type: "integer" } }, required: ["text"] },
  { name: "count_rows", properties: {}, required: [] },
].map(({ name, properties, required }) => ({
  name,
  server: "rows",
  description: "",
  score: 1,
  inputSchema: { type: "object", properties, required },
}));

test.each([
  [{ text: "x" }, " These arguments fit find_rows."],
  [{ text: "x", limit: 3 }, " These arguments fit find_rows."],
  [{ text: 5 }, " Similar tools: find_rows, count_rows."],
  [{ limit: 3 }, " Similar tools: find_rows, count_rows."],
  [{ colour: "red" }, " Similar tools: find_rows, count_rows."],
  [JSON.parse('{"__proto__": 1}'), " Similar tools: find_rows, count_rows."],
  [{ constructor: "x", text: "x" }, " Similar tools: find_rows, count_rows."],
])(
  "execute_tool with wrong arguments %j names a tool of the same server that accepts them, else similar tools",
  async (args, hint) => {
    const outcome = fail("invalid_params", "Wrong.");
    const place = yard({ outcome, hits: SIBLINGS });
    const answer = await call(place, "execute_tool", { name: "read_row", arguments: args });
    expect(answer).toMatchObject({ ok: false, kind: "invalid_params", message: `Wrong.${hint}` });
  },
);

const OWN_RESULT = {
  content: [
    { type: "text", text: '{"code":5}' },
    { type: "image", data: "", mimeType: "image/png" },
  ],
  structuredContent: { code: 5 },
  isError: true,
  _meta: { x: 1 },
  later: true,
};

test("keeps a tool's own failure unchanged, and adds similar tools as a separate text at the end", async () => {
  const outcome = fail("tool_error", "No such row.", { result: OWN_RESULT });
  const answer = await call(yard({ outcome, hits: hitsOf(6) }), "execute_tool", { name: "tool_1" });
  expect(answer).toEqual({
    ...outcome,
    result: {
      ...OWN_RESULT,
      content: [...OWN_RESULT.content, { type: "text", text: "Similar tools: tool_0, tool_2, tool_3." }],
    },
  });
});

test.each(["tool_error", "timeout", "unavailable", "limited", "too_large", "malformed", "denied"] as const)(
  "names similar tools for a call that failed as %s",
  async (kind) => {
    const answer = await call(yard({ outcome: fail(kind, "No."), hits: hitsOf(2) }), "execute_tool", { name: "other" });
    expect(answer).toMatchObject({ kind, message: "No. Similar tools: tool_0, tool_1." });
  },
);

test.each([
  ["an upstream's protocol error", fail("tool_error", "No.", { rpcError: { code: -32050, message: "No." } })],
  ["a name with several tools", fail("ambiguous", "Which?", { details: { candidates: ["a", "b"] } })],
  ["a call that was cancelled", fail("cancelled", "Cancelled.")],
])("passes %s on unchanged, without similar tools", async (_, outcome) => {
  expect(await call(yard({ outcome, hits: hitsOf(3) }), "execute_tool", { name: "other" })).toBe(outcome);
});

test("does not name a tool with little similarity to the failed one", async () => {
  const outcome = fail("timeout", "No.");
  const hits = hitsOf(3).map((hit) => ({ ...hit, score: 0.2 }));
  expect(await call(yard({ outcome, hits }), "execute_tool", { name: "other" })).toBe(outcome);
});

test.each([{}, { name: "" }, { name: "  " }, { name: 5 }])(
  "execute_tool without a name (%j) requires one",
  async (args) => {
    expect(await call(yard(), "execute_tool", args)).toMatchObject({
      kind: "tool_error",
      message: "Tool name is required",
    });
  },
);

test.each(["execute_tool", "mcp__hub__execute_tool"])("execute_tool as %s does not call itself", async (name) => {
  const place = yard();
  expect(await call(place, "execute_tool", { name })).toMatchObject({ ok: false, kind: "tool_error" });
  expect(place.calls).toEqual([]);
});

test("G71: meta.get_server_status returns the running parts and the start time", async () => {
  const answer = await call(yard(), "meta.get_server_status");
  expect(answer).toMatchObject({
    result: {
      structuredContent: {
        status: "running",
        uptime_seconds: 90_061.5,
        uptime_formatted: "1d 01:01:01",
        discovered_modules_count: 1,
        registered_tools_count: 12,
        registered_resources_count: 3,
        server_version: "1.2.3",
        transports: ["http"],
      },
    },
  });
  expect(JSON.parse(texts(answer)[0]!)).toEqual(answer.ok && answer.result["structuredContent"]);
});

test("C39: accepts the older names without listing them", () => {
  const hidden = yard()
    .provider.listing()
    .tools.flatMap((tool) => tool.hiddenNames ?? []);
  expect(hidden).toEqual(
    expect.arrayContaining([
      "get_mcp_server_status",
      "get_mcp_server_capabilities",
      "get_mcp_server_auth_status",
      "get_mcp_server_encryption_status",
    ]),
  );
});

test("G72: meta.get_full_capabilities returns the same as discovery", async () => {
  expect(await call(yard(), "meta.get_full_capabilities")).toMatchObject({
    result: { structuredContent: { mcp_version: "1.0-gnn", tools: [] } },
  });
});

test("G73: meta.get_module_info describes only a loaded module, with at most five tools", async () => {
  expect(await call(yard(), "meta.get_module_info", { module_name: "src.export.mcp" })).toMatchObject({
    result: {
      structuredContent: {
        module_name: "src.export.mcp",
        status: "loaded",
        path: "export/mcp.ts",
        provided_tools_sample: ["a", "b", "c", "d", "e"],
      },
    },
  });
  expect(await call(yard(), "meta.get_module_info", { module_name: "nope" })).toMatchObject({
    kind: "tool_error",
    message: "Module 'nope' not found or not loaded.",
  });
});

test("G74: meta.ping returns pong", async () => {
  expect(texts(await call(yard(), "meta.ping"))).toEqual(["pong"]);
});

test("G74: returns the end of the log, within the limit", async () => {
  const place = yard({ config: { server_logs: true, server_log_lines: 2 } });
  expect(await call(place, "meta.get_server_logs", { lines: 50 })).toMatchObject({
    result: { structuredContent: { lines: ["two", "three"] } },
  });
});

test("rejects an invalid number of log lines", () => {
  expect(() => resolveBuiltin({ server_log_lines: 0 })).toThrow("`server_log_lines` must be");
});
