import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LOCAL_PRINCIPAL, type Call } from "../../core/calls/call.ts";
import type { InnerHub } from "../../core/calls/inner-hub.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import type { Logger } from "../../core/ports/ports.ts";
import type { CallTarget, Provider } from "../../core/sources/provider.ts";
import type { Listing } from "../../core/sources/records.ts";
import { createModulesProvider } from "./modules-provider.ts";
import { type ModulesConfig, resolveModules } from "./options.ts";

let folder: string;
let lines: string[];
let open: Provider[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-modules-"));
  lines = [];
  open = [];
});

afterEach(async () => {
  await Promise.all(open.map((provider) => provider.close()));
  rmSync(folder, { recursive: true, force: true });
});

const logger: Logger = {
  debug: () => {},
  info: (message) => lines.push(`info ${message}`),
  warning: (message) => lines.push(`warning ${message}`),
  error: (message) => lines.push(`error ${message}`),
  with: () => logger,
};

const innerHub: InnerHub = {
  call: ({ tool, arguments: args }) =>
    Promise.resolve(ok({ content: [{ type: "text", text: `${tool} ${JSON.stringify(args)}` }] })),
  read: (uri) => Promise.resolve(fail("unknown_tool", `There is no resource ${uri}.`)),
  search: () => Promise.resolve({ hits: [], total: 0 }),
  list: () => Promise.resolve([]),
};

function write(name: string, text: string): string {
  const path = join(folder, "mods", name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function start(options: ModulesConfig = {}): Provider {
  mkdirSync(join(folder, "mods"), { recursive: true });
  const source = { id: "modules", kind: "modules", namespace: "", order: 0 } as const;
  const provider = createModulesProvider({
    source,
    options: resolveModules({ paths: [join(folder, "mods")], ...options }),
    logger,
    innerHub,
    models: {},
  });
  open.push(provider);
  provider.open();
  return provider;
}

const names = (listing: Listing): string[] => listing.tools.map((tool) => tool.name);

function register(...body: string[]): string {
  return `export function registerTools(hub) {\n${body.join("\n")}\n}\n`;
}

function ask(provider: Provider, record: CallTarget, extra: Partial<Call> = {}): Promise<Outcome> {
  return provider.call({
    id: "1",
    endpoint: "test",
    method: "tools/call",
    target: "t",
    params: {},
    arguments: {},
    meta: {},
    principal: LOCAL_PRINCIPAL,
    mode: "all",
    client: { capabilities: {} },
    signal: new AbortController().signal,
    wants: { progress: true, logLevel: "debug" },
    relaysInput: false,
    notify: () => {},
    ask: () => Promise.reject(new Error("nobody to ask")),
    ...extra,
    record,
  });
}

async function run(
  provider: Provider,
  name: string,
  args: JsonObject = {},
  extra: Partial<Call> = {},
): Promise<Outcome> {
  const tool = (await provider.listing()).tools.find((candidate) => candidate.name === name)!;
  return ask(provider, { type: "tool", tool }, { arguments: args, ...extra });
}

test("G2, G4: registers mcp.ts and mcp.js in subfolders, with a log line", async () => {
  write(
    "alpha/mcp.ts",
    `import type { ModuleHub } from "toolyard"; ` +
      `${register('hub.registerTool("alpha.one", () => "1");').replace("(hub)", "(hub: ModuleHub)")}`,
  );
  write("beta/mcp.js", `export function register_tools(hub) { hub.register_tool("two", () => "2", {}, "Two"); }`);
  write("other/tool.ts", "throw new Error('not looked at')");
  const provider = start();
  expect(names(await provider.listing())).toEqual(["alpha.one", "two"]);
  expect(lines).toContain("info Successfully registered tools from mods.alpha.mcp");
  expect(lines).toContain("info Registered tool: two");
  expect(provider.status()).toMatchObject({
    state: "ready",
    info: { modules: { "mods.alpha.mcp": { tools: ["alpha.one"] }, "mods.beta.mcp": { tools: ["two"] } } },
  });
});

test("G51: keeps a dotted name, and prefixes a plain one with the section's namespace", async () => {
  write("a/mcp.mjs", register('hub.registerTool("export.json", () => 1); hub.registerTool("plain", () => 1);'));
  const { tools } = await start().listing();
  expect(tools.map((tool) => tool.qualified)).toEqual([true, undefined]);
});

test("G5: warns about a module without registerTools", async () => {
  write("empty/mcp.js", "export const nothing = 1;");
  const listing = await start().listing();
  const message = "Module mods.empty.mcp found but has no register_tools function.";
  expect(lines).toContain(`warning ${message}`);
  expect(listing.problems).toEqual([{ source: "modules", subject: "mods.empty.mcp", message }]);
});

test("G6: reports a module that throws with its path, and loads the others", async () => {
  const bad = write("bad/mcp.ts", "\nthrow new Error('boom');");
  const worse = write("worse/mcp.ts", "export function registerTools(hub) { hub.registerTool('x'); }");
  write("good/mcp.ts", register('hub.registerTool("fine", () => 1);'));
  const listing = await start().listing();
  expect(names(listing)).toEqual(["fine"]);
  expect(lines).toContain(`error Failed to load or register tools from ${bad}: boom`);
  expect(lines).toContain(
    `error Failed to load or register tools from ${worse}: Tool \`x\`: the handler must be a function, got undefined.`,
  );
  expect(listing.problems.length).toBe(2);
});

test("abandons a module that never finishes after the timeout, and ignores its later registrations", async () => {
  const slow = write(
    "slow/mcp.ts",
    `export async function registerTools(hub: any) { hub.registerTool("early", () => 1); ` +
      "globalThis.lateHub = hub; await new Promise(() => {}); }",
  );
  write("good/mcp.ts", register('hub.registerTool("fine", () => 1);'));
  const provider = start({ timeout: "500ms" });
  const listing = await provider.listing();
  expect(names(listing)).toEqual(["fine"]);
  expect(lines).toContain(
    `error Failed to load or register tools from ${slow}: not done after 500 ms; \`timeout\` of ` +
      "[modules] is the limit",
  );
  (
    globalThis as unknown as { lateHub: { registerTool(name: string, handler: () => void): void } }
  ).lateHub.registerTool("late", () => {});
  expect(names(await provider.listing())).toEqual(["fine"]);
});

test("G8: replaces a tool that is registered again, within a module or across modules, with a warning", async () => {
  write("a/mcp.ts", register('hub.registerTool("same", () => "a1"); hub.registerTool("same", () => "a2");'));
  write("b/mcp.ts", register('hub.registerTool("same", () => "b");'));
  const provider = start();
  expect(names(await provider.listing())).toEqual(["same"]);
  expect(lines.filter((line) => line === "warning Tool same already registered. Overwriting.").length).toBe(2);
  expect(await run(provider, "same")).toEqual(ok({ content: [{ type: "text", text: "b" }] }));
});

test("C29: rejects the hub's own names with a diagnostic", async () => {
  write(
    "a/mcp.ts",
    register(
      'for (const n of ["tool_search", "execute_tool", "execute_code", "meta.ping", "metallic"]) ' +
        "hub.registerTool(n, () => 1);",
    ),
  );
  const listing = await start().listing();
  expect(names(listing)).toEqual(["metallic"]);
  expect(listing.problems.map((problem) => problem.subject)).toEqual([
    "tool_search",
    "execute_tool",
    "execute_code",
    "meta.ping",
  ]);
});

test("C11: wraps a bare map of parameters with a warning, and accepts {} as no parameters", async () => {
  write(
    "a/mcp.ts",
    register('hub.registerTool("bare", () => 1, { city: { type: "string" } }); hub.registerTool("none", () => 1, {});'),
  );
  const { tools } = await start().listing();
  expect(tools.map((tool) => tool.inputSchema)).toEqual([
    { type: "object", properties: { city: { type: "string" } } },
    { type: "object" },
  ]);
  expect(lines.some((line) => line.startsWith("warning Tool bare: "))).toBe(true);
});

test("accepts the form with one object and both spellings of an option, and rejects an unknown option", async () => {
  write(
    "a/mcp.ts",
    register(
      `hub.registerTool({ name: "full", handler: () => 1, input_schema: { type: "object" }, description: "D",
         title: "T", output_schema: { type: "object" },
         annotations: { readOnlyHint: true }, keywords: ["k"], visibility: "ondemand", timeout: "5s", max_concurrent: 2,
           aliases: ["old"], _meta: { a: 1 } });`,
    ),
  );
  const bad = write("b/mcp.ts", register('hub.registerTool("t", () => 1, {}, "", { visibilty: "native" });'));
  const { tools } = await start().listing();
  expect(tools).toMatchObject([
    {
      name: "full",
      description: "D",
      keywords: ["k"],
      visibility: "ondemand",
      limits: { timeoutMs: 5000, maxConcurrent: 2 },
      hiddenNames: ["old"],
      outputSchema: { type: "object" },
    },
  ]);
  expect(tools[0]!.definition).toEqual({
    name: "full",
    title: "T",
    description: "D",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    _meta: { a: 1 },
  });
  expect(
    lines.some((line) =>
      line.startsWith(
        `error Failed to load or register tools from ${bad}: Tool \`t\`: \`visibilty\` is not an option; ` +
          "did you mean `visibility`?",
      ),
    ),
  ).toBe(true);
});

test.each([
  ['"text"', { content: [{ type: "text", text: "text" }] }],
  ["null", { content: [] }],
  ["undefined", { content: [] }],
  ["42", { content: [{ type: "text", text: "42" }] }],
  ["[1, 2]", { content: [{ type: "text", text: "[1,2]" }] }],
  [
    "({ a: [1], at: new Date(0) })",
    {
      content: [{ type: "text", text: '{"a":[1],"at":"1970-01-01T00:00:00.000Z"}' }],
      structuredContent: { a: [1], at: "1970-01-01T00:00:00.000Z" },
    },
  ],
  ['({ content: [{ type: "odd" }], extra: 1 })', { content: [{ type: "odd" }], extra: 1 }],
  ['new Blob(["x"], { type: "image/png" })', { content: [{ type: "image", mimeType: "image/png", data: "eA==" }] }],
  [
    "new Uint8Array([1])",
    {
      content: [
        { type: "resource", resource: { uri: "result://t", mimeType: "application/octet-stream", blob: "AQ==" } },
      ],
    },
  ],
])("converts the handler's return value %s to a result", async (expression, result) => {
  write("a/mcp.ts", register(`hub.registerTool("t", async () => ${expression});`));
  expect(await run(start(), "t")).toEqual(ok(result));
});

test("C8, S13: converts a thrown error to a tool error with its message and without a stack", async () => {
  write(
    "a/mcp.ts",
    register(
      'hub.registerTool("t", () => { throw new RangeError("too far"); }); hub.registerTool("u", () => () => 1);',
    ),
  );
  const provider = start();
  expect(await run(provider, "t")).toMatchObject({
    ok: false,
    kind: "tool_error",
    message: "Error executing tool 't': too far",
  });
  expect(await run(provider, "u")).toMatchObject({
    kind: "tool_error",
    message: "Error executing tool 'u': it returned a value that is not JSON (function).",
  });
});

test("converts an error with a JSON-RPC code to a protocol error, but not one with a code of the system", async () => {
  write(
    "a/mcp.ts",
    register(
      'hub.registerTool("t", () => { throw Object.assign(new Error("no"), { code: -32602, data: { a: 1 } }); ' +
        '}); hub.registerTool("u", () => { throw Object.assign(new Error("exit"), { code: 1 }); });',
    ),
  );
  const provider = start();
  expect(await run(provider, "t")).toMatchObject({
    kind: "invalid_params",
    message: "no",
    rpcError: { code: -32602, message: "no", data: { a: 1 } },
  });
  expect(await run(provider, "u")).toMatchObject({ kind: "tool_error", message: "Error executing tool 'u': exit" });
});

test("passes on a result with isError unchanged as the tool's own failure", async () => {
  write(
    "a/mcp.ts",
    register('hub.registerTool("t", () => ({ content: [{ type: "text", text: "no" }], isError: true }));'),
  );
  expect(await run(start(), "t")).toMatchObject({
    ok: false,
    kind: "tool_error",
    message: "no",
    result: { isError: true },
  });
});

test("G57: accepts a plain function of one object as a handler, and passes it the call's context", async () => {
  write(
    "a/mcp.ts",
    register(
      "const add = ({ a, b }: { a: number; b: number }): number => a + b; " +
        'hub.registerTool("add", add, { a: { type: "number" }, b: { type: "number" } });',
      `hub.registerTool("see", async (_args, context) => {
         context.log("info", "hello", "me"); context.progress(1, 2, "half");
         const answer = await context.ask("elicitation/create", { message: "?" });
         const other = await context.call("add", { a: 1 });
         return { answer, other: other.content[0].text, principal: context.principal, name: context.client.name,
           meta: context.meta, state: context.requestState ?? null };
       });`,
    ),
  );
  const provider = start();
  expect(await run(provider, "add", { a: 2, b: 3 })).toEqual(ok({ content: [{ type: "text", text: "5" }] }));
  const sent: unknown[] = [];
  const outcome = await run(
    provider,
    "see",
    {},
    {
      notify: (notification) => sent.push(notification),
      ask: (request) => Promise.resolve({ asked: request.method }),
      client: { name: "c", capabilities: {} },
      meta: { trace: 1 },
      params: { requestState: "s" },
    },
  );
  expect(outcome).toMatchObject({
    result: {
      structuredContent: {
        answer: { asked: "elicitation/create" },
        other: 'add {"a":1}',
        principal: "local",
        name: "c",
        meta: { trace: 1 },
        state: "s",
      },
    },
  });
  expect(sent).toEqual([
    { method: "notifications/message", params: { level: "info", logger: "me", data: "hello" } },
    { method: "notifications/progress", params: { progress: 1, total: 2, message: "half" } },
  ]);
});

test("offers the signal also to a handler that copies or wraps its context", async () => {
  write(
    "a/mcp.mjs",
    register(
      'hub.registerTool("copy", (_args, context) => [{ ...context }, new Proxy(context, {}), ' +
        "Object.create(context)].map(({ signal }) => signal instanceof AbortSignal));",
    ),
  );
  expect(await run(start(), "copy")).toMatchObject({ result: { content: [{ text: "[true,true,true]" }] } });
});

const ASKING = register(
  `hub.registerTool("t", (_args, context) => context.inputResponses
     ? "hello " + context.inputResponses.who.content.name + " " + context.requestState
     : { resultType: "input_required", inputRequests: { who: { method: "elicitation/create", params: {} } },
       requestState: "st" });`,
);

test("passes input_required to a caller that relays it, and otherwise sends its requests", async () => {
  write("a/mcp.ts", ASKING);
  const provider = start();
  expect(await run(provider, "t", {}, { relaysInput: true })).toMatchObject({
    result: { resultType: "input_required", requestState: "st" },
  });
  const answer = { action: "accept", content: { name: "Ann" } };
  expect(await run(provider, "t", {}, { ask: () => Promise.resolve(answer) })).toEqual(
    ok({ content: [{ type: "text", text: "hello Ann st" }] }),
  );
});

test("G10, G14, C38: reads resources by URI and by template: text, JSON, bytes, and a missing one", async () => {
  write(
    "a/mcp.ts",
    register(
      'hub.registerResource("note://main", () => "text", "Main", { mime_type: "text/markdown" });',
      'hub.register_resource("viz://{dir}/{+path}", (uri, vars) => vars.path === "none" ? ' +
        'null : vars.path === "raw" ? new Uint8Array([1]) : { uri, ...vars });',
    ),
  );
  const provider = start();
  const { resources, templates, features } = await provider.listing();
  expect(resources.map((resource) => resource.definition)).toEqual([
    { uri: "note://main", name: "note://main", description: "Main", mimeType: "text/markdown" },
  ]);
  expect(templates.map((template) => template.definition)).toEqual([
    { uriTemplate: "viz://{dir}/{+path}", name: "viz://{dir}/{+path}" },
  ]);
  expect(features.subscribe).toBe(true);
  const read = (uri: string): Promise<Outcome> => {
    const record = uri.startsWith("note") ? { resource: resources[0]! } : { template: templates[0]! };
    return ask(provider, { type: "resource", uri, ...record }, { method: "resources/read" });
  };
  expect(await read("note://main")).toEqual(
    ok({ contents: [{ uri: "note://main", mimeType: "text/markdown", text: "text" }] }),
  );
  expect(await read("viz://out/a/b")).toEqual(
    ok({
      contents: [
        {
          uri: "viz://out/a/b",
          mimeType: "application/json",
          text: '{"uri":"viz://out/a/b","dir":"out","path":"a/b"}',
        },
      ],
    }),
  );
  expect(await read("viz://out/raw")).toEqual(
    ok({ contents: [{ uri: "viz://out/raw", mimeType: "application/octet-stream", blob: "AQ==" }] }),
  );
  expect(await read("viz://out/none")).toMatchObject({
    kind: "unknown_tool",
    message: "Resource 'viz://out/none' not found.",
  });
});

test("serves prompts: text, messages, a missing argument, completion of arguments and variables", async () => {
  write(
    "a/mcp.ts",
    register(
      'hub.registerPrompt("greet", ({ name }) => "Hi " + name, { description: "G", arguments: [{ name: ' +
        '"name", required: true }], complete: { name: ["Ann", "andy", "Bob"] } });',
      'hub.registerResource("city://{name}", () => "x", "", { complete: { name: (value, { arguments: given }) ' +
        "=> [value + given.land] } });",
    ),
  );
  const provider = start();
  const { prompts, templates, features } = await provider.listing();
  const prompt = prompts[0]!;
  expect(features.completions).toBe(true);
  expect(prompt.definition).toEqual({ name: "greet", description: "G", arguments: [{ name: "name", required: true }] });
  expect(
    await ask(provider, { type: "prompt", prompt }, { method: "prompts/get", arguments: { name: "Ann" } }),
  ).toEqual(ok({ description: "G", messages: [{ role: "user", content: { type: "text", text: "Hi Ann" } }] }));
  expect(await ask(provider, { type: "prompt", prompt }, { method: "prompts/get" })).toMatchObject({
    kind: "invalid_params",
    message: "Missing required argument: name",
  });
  const complete = (record: object, value: string): Promise<Outcome> =>
    ask(
      provider,
      { type: "completion", ref: {}, ...record },
      {
        method: "completion/complete",
        params: { argument: { name: "name", value }, context: { arguments: { land: "DE" } } },
      },
    );
  expect(await complete({ prompt }, "an")).toEqual(
    ok({ completion: { values: ["Ann", "andy"], total: 2, hasMore: false } }),
  );
  expect(await complete({ template: templates[0]! }, "B")).toEqual(
    ok({ completion: { values: ["BDE"], total: 1, hasMore: false } }),
  );
});

test("detects an edit, also of a helper, at the next request; keeps the object of an unchanged listing", async () => {
  write("a/mcp.ts", `import { word } from "./word.ts"; ${register('hub.registerTool("t", () => word);')}`);
  write("a/word.ts", `export const word: string = "one";`);
  const provider = start();
  const first = await provider.listing();
  expect(await provider.listing()).toBe(first);
  expect(await run(provider, "t")).toMatchObject({ result: { content: [{ text: "one" }] } });
  write("a/word.ts", `export const word: string = "two";`);
  await expect
    .poll(async () => run(provider, "t"), { interval: 5 })
    .toEqual(ok({ content: [{ type: "text", text: "two" }] }));
  write("b/mcp.ts", register('hub.registerTool("added", () => 1);'));
  await expect.poll(async () => names(await provider.listing()), { interval: 5 }).toEqual(["t", "added"]);
  rmSync(join(folder, "mods", "a"), { recursive: true });
  await expect.poll(async () => names(await provider.listing()), { interval: 5 }).toEqual(["added"]);
});

test("announces an edit without a request", async () => {
  write("a/mcp.ts", register('hub.registerTool("one", () => 1);'));
  const provider = start();
  await provider.listing();
  const heard = new Promise<void>((resolve) => provider.events.changed.on(resolve));
  write("a/mcp.ts", register('hub.registerTool("two", () => 1);'));
  await heard;
  await expect.poll(async () => names(await provider.listing())).toEqual(["two"]);
});

test("completes a running call with the earlier state of a module, and then closes that state", async () => {
  write(
    "a/mcp.ts",
    register(
      'let go; hub.onClose(() => { globalThis.closed = (globalThis.closed ?? "") + "1"; }); ' +
        'hub.registerTool("t", () => new Promise((done) => { globalThis.finish = () => done("old"); }));',
    ),
  );
  const shared = globalThis as unknown as { closed?: string; finish?: () => void };
  delete shared.closed;
  const provider = start();
  const running = run(provider, "t");
  await expect.poll(() => shared.finish).toBeTypeOf("function");
  write("a/mcp.ts", register('hub.registerTool("t", () => "new", {}, "New");'));
  await expect.poll(async () => (await provider.listing()).tools[0]?.description, { interval: 5 }).toBe("New");
  expect(await run(provider, "t")).toEqual(ok({ content: [{ type: "text", text: "new" }] }));
  expect(shared.closed).toBeUndefined();
  shared.finish!();
  expect(await running).toEqual(ok({ content: [{ type: "text", text: "old" }] }));
  await expect.poll(() => shared.closed).toBe("1");
});

test("keeps the earlier state of a module, with a problem, from an invalid edit until the file is fixed", async () => {
  const path = write("a/mcp.ts", register('hub.registerTool("t", () => 1);'));
  const provider = start();
  await provider.listing();
  write("a/mcp.ts", "export const = 1;");
  await expect.poll(async () => (await provider.listing()).problems.length, { interval: 5 }).toBe(1);
  const listing = await provider.listing();
  expect(names(listing)).toEqual(["t"]);
  expect(listing.problems[0]!.message).toMatch(
    new RegExp(
      `^Failed to load or register tools from ${path}: mcp\\.ts:1:\\d+: .* Its earlier registrations stay\\.$`,
      "u",
    ),
  );
  write("a/mcp.ts", register('hub.registerTool("mended", () => 1);'));
  await expect.poll(async () => names(await provider.listing()), { interval: 5 }).toEqual(["mended"]);
});

test("retries a failed file after it was touched", async () => {
  const path = write(
    "a/mcp.ts",
    `globalThis.tryNo = (globalThis.tryNo ?? 0) + 1; if (globalThis.tryNo % 2) throw new Error("not yet"); ` +
      `${register('hub.registerTool("t", () => 1);')}`,
  );
  const provider = start();
  expect((await provider.listing()).problems.length).toBe(1);
  utimesSync(path, new Date(), new Date(Date.now() - 5000));
  await expect.poll(async () => names(await provider.listing()), { interval: 5 }).toEqual(["t"]);
});

test("adds and removes tools at run time, with an announcement each", async () => {
  write(
    "a/mcp.ts",
    register(
      'hub.registerTool("add", () => { globalThis.handle = hub.registerTool("more", () => 1); }); ' +
        'hub.registerTool("drop", () => { globalThis.handle.unregister(); hub.resourceUpdated("x://1"); });',
    ),
  );
  const provider = start();
  await provider.listing();
  let changes = 0;
  const updated: string[] = [];
  provider.events.changed.on(() => (changes += 1));
  provider.events.resourceUpdated.on(({ uri }) => updated.push(uri));
  await run(provider, "add");
  expect([names(await provider.listing()), changes]).toEqual([["add", "drop", "more"], 1]);
  await run(provider, "drop");
  expect([names(await provider.listing()), changes, updated]).toEqual([["add", "drop"], 2, ["x://1"]]);
});

test("allowlist: loads only named modules, by folder or dotted name", async () => {
  for (const name of ["alpha", "beta", "gamma"])
    write(`${name}/mcp.ts`, register(`hub.registerTool("${name}", () => 1);`));
  expect(names(await start({ allowlist: ["alpha", "mods.g*.mcp"] }).listing())).toEqual(["alpha", "gamma"]);
});

test("S7: rejects a module that leads out of its folder", async () => {
  const outside = join(folder, "outside.ts");
  writeFileSync(outside, register('hub.registerTool("evil", () => 1);'));
  mkdirSync(join(folder, "mods", "link"), { recursive: true });
  symlinkSync(outside, join(folder, "mods", "link", "mcp.ts"));
  const listing = await start().listing();
  expect(names(listing)).toEqual([]);
  expect(listing.problems[0]!.message).toContain("leads out of its folder");
});

test("loads a single file as a module under its own name, and reports a missing path as a problem", async () => {
  const file = write("single.ts", register('hub.registerTool("s", () => 1);'));
  const provider = start({ paths: [file, join(folder, "gone")] });
  const listing = await provider.listing();
  expect(names(listing)).toEqual(["s"]);
  expect(listing.problems[0]!.message).toMatch(/cannot be read: .*Check `paths` of \[modules\]\.$/u);
  expect(lines).toContain("info Successfully registered tools from single");
});

test("G17: detects a new module soon, even if all requests concern other sources", async () => {
  write("one/mcp.mjs", register('hub.registerTool("one", () => 1, {}, "One");'));
  const provider = start();
  await provider.listing();
  const namesForOthers = async () => names(await provider.listing({ mayBeOld: true, isForOther: true }));
  expect(await namesForOthers()).toEqual(["one"]);
  write("two/mcp.mjs", register('hub.registerTool("two", () => 2, {}, "Two");'));
  await expect.poll(namesForOthers, { timeout: 10_000 }).toEqual(["one", "two"]);
});
