// Every endpoint and client library calls a tool of each kind of source and gets the same value, and reports each
// outcome code, provoked by a real failure, as the table of outcome codes specifies. The spellings of a name belong to
// `src/catalog/catalog-spellings.test.ts`; here each endpoint calls by two spellings.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parseExact } from "../../packages/toolyard/src/core/json/exact-json.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { KINDS, type FailKind } from "../../packages/toolyard/src/core/calls/kinds.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../../packages/toolyard/src/core/sources/provider-kinds.ts";
import { BuiltinProvider } from "../../packages/toolyard/src/providers/builtin/provider.ts";
import { createGate, type Gate } from "../fixtures/hub-stand-in.ts";
import type { Surface } from "./surface.ts";
import { FULL } from "./served-yard.ts";
import { NARROW, SurfaceYard } from "./surface-yard.ts";
import { SURFACES, type SurfaceRow } from "./surfaces.ts";

interface ToolRow {
  readonly kind: ProviderKind;
  readonly args: JsonObject;
  readonly value: unknown;
  /** Name of the tool as the hub lists it. */
  readonly listed: string;
  readonly spellings: readonly string[];
}

const LONG_INTEGERS = [
  "1",
  "9007199254740993",
  "-9007199254740993",
  "9223372036854775807",
  "18446744073709551615",
  "123456789012345678901234567890",
];

const SAID = { args: { text: "größe" }, value: { text: "größe" } };

/** The endpoints alternate between the spellings. The manager, which has its own registry, uses every spelling. */
const TOOLS: readonly ToolRow[] = [
  {
    kind: "modules",
    ...SAID,
    listed: "words.say",
    spellings: ["say", "words.say", "words::say", "words__say", "words/say", "words_say", "mcp__words__say"],
  },
  {
    kind: "scripts",
    ...SAID,
    listed: "say_script",
    spellings: [
      "say_script",
      "scripts.say_script",
      "scripts::say_script",
      "scripts__say_script",
      "scripts/say_script",
      "mcp__scripts__say_script",
    ],
  },
  {
    kind: "folders",
    ...SAID,
    listed: "say_folder",
    spellings: [
      "say_folder",
      "folders.say_folder",
      "folders::say_folder",
      "folders__say_folder",
      "folders/say_folder",
      "mcp__folders__say_folder",
    ],
  },
  {
    kind: "stdio",
    ...SAID,
    listed: "pipe__say.here",
    spellings: [
      "say.here",
      "pipe.say.here",
      "pipe::say.here",
      "pipe__say.here",
      "pipe/say.here",
      "pipe__say_here",
      "mcp__pipe__say.here",
    ],
  },
  {
    kind: "http",
    ...SAID,
    listed: "web__say.there",
    spellings: [
      "say.there",
      "web.say.there",
      "web::say.there",
      "web__say.there",
      "web/say.there",
      "web__say_there",
      "mcp__web__say.there",
    ],
  },
  {
    kind: "builtin",
    listed: "tool_search",
    args: { query: "x", server: "nobody" },
    value: [
      "No tools found. Try different keywords or a broader search term.",
      expect.stringContaining("Servers, with their number of tools:"),
    ],
    spellings: [
      "tool_search",
      "builtin.tool_search",
      "builtin::tool_search",
      "builtin__tool_search",
      "builtin/tool_search",
      "mcp__builtin__tool_search",
    ],
  },
  {
    kind: "defaults",
    listed: "internet_search",
    args: { query: "otters" },
    value: expect.objectContaining({ search_results: expect.arrayContaining([expect.objectContaining({})]) }),
    spellings: [
      "internet_search",
      "default_tools.internet_search",
      "default_tools::internet_search",
      "default_tools__internet_search",
      "default_tools/internet_search",
      "mcp__default_tools__internet_search",
    ],
  },
];

interface FailureRow {
  readonly kind: FailKind;
  readonly tool: string;
  readonly args?: JsonObject;
}

const FAILURES: readonly FailureRow[] = [
  { kind: "tool_error", tool: "fail.thrown" },
  { kind: "unknown_tool", tool: "nobody.has_it" },
  { kind: "ambiguous", tool: "twin" },
  { kind: "invalid_params", tool: "fail.strict", args: { a: "no number" } },
  // Fails because consent is missing. Denials by a caller's rights have their own test.
  { kind: "denied", tool: "fail.destroys" },
  // The upstream server reports this failure. The hub's own limits have their own test.
  { kind: "limited", tool: "web__busy" },
  { kind: "too_large", tool: "fail.big" },
  { kind: "unavailable", tool: "frail__die" },
  { kind: "needs_authorisation", tool: "locked__waits" },
  { kind: "timeout", tool: "fail.slow" },
  { kind: "malformed", tool: "frail__nonsense" },
  { kind: "internal", tool: "tool_search", args: { query: BREAKS() } },
];

/** Query at which this test makes `tool_search` throw. A function, because the table above uses it. */
function BREAKS(): string {
  return "break inside";
}

/** Outcome codes that need more than one call have their own test. */
const BY_CIRCUMSTANCE: readonly FailKind[] = ["cancelled"];

const waits: { begun: Gate; ended: Gate } = { begun: createGate(), ended: createGate() };
/** Ends the running call of the tool that serves one call at a time. */
let single: Gate;
let yard: SurfaceYard;

beforeAll(async () => {
  Object.assign(globalThis, {
    surfaceYard: {
      begun: () => waits.begun.open(),
      ended: () => waits.ended.open(),
      single: () => single.opened.then(() => "alone"),
    },
  });
  const call = BuiltinProvider.prototype.call;
  vi.spyOn(BuiltinProvider.prototype, "call").mockImplementation(function (this: BuiltinProvider, one) {
    if (one.record.type === "tool" && one.record.tool.name === "tool_search" && one.arguments["query"] === BREAKS())
      throw new TypeError("a fault of this program");
    return call.call(this, one);
  });
  yard = await SurfaceYard.open();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await yard[Symbol.asyncDispose]();
  Reflect.deleteProperty(globalThis, "surfaceYard");
});

/** Source kinds with tools that return their arguments. */
const ECHOING: ReadonlySet<ProviderKind> = new Set(["modules", "scripts", "folders", "stdio", "http"]);

test("each kind of source has a tool", () => {
  expect(TOOLS.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(PROVIDER_KINDS).toSorted());
});

test("each outcome code of the table has a test case that provokes it", () => {
  expect([...FAILURES.map(({ kind }) => kind), ...BY_CIRCUMSTANCE].toSorted()).toEqual(Object.keys(KINDS).toSorted());
});

const ROWS = Object.entries<SurfaceRow>(SURFACES).map(([name, row], index) => ({ name, index, ...row }));

/** Returns the listed name and one further spelling; for the manager, which resolves names itself, every spelling. */
function calledNames({ listed, spellings }: ToolRow, { name, index }: (typeof ROWS)[number]): readonly string[] {
  // The manager joins the words of a service's name with hyphens.
  if (name === "manager") return spellings.map((spelling) => spelling.replace("default_tools", "default-tools"));
  return Array.from(new Set([listed, spellings[index % spellings.length]!]));
}

/**
 * Runs the items concurrently if the calls reach one hub. Otherwise each call has its own hub, and they run in
 * sequence.
 */
async function forEach<T>(items: readonly T[], isShared: boolean, run: (item: T) => Promise<void>): Promise<void> {
  if (isShared) await Promise.all(items.map(run));
  else for (const item of items) await run(item);
}

describe.each(ROWS)("$name", (row) => {
  const { open, hasPrincipals = false, isShared = true } = row;
  let surface: Surface;
  beforeAll(async () => {
    surface = await open(yard, FULL);
  });
  afterAll(() => surface.close());

  test("calls a tool of each kind of source by name and through execute_tool", async () => {
    const calls = TOOLS.flatMap((tool) => calledNames(tool, row).map((name) => ({ ...tool, name })));
    await forEach(calls, isShared, async ({ name, listed, args, value }) => {
      expect(await surface.call(name, args), name).toEqual({ value });
      if (name === listed)
        expect(await surface.call("execute_tool", { name, arguments: args }), name).toEqual({ value });
    });
  });

  test("passes integers beyond 2^53 to a tool of each kind of source and back exactly", async () => {
    const args = { text: "9007199254740993", ids: parseExact(`[${LONG_INTEGERS.join(",")}]`) };
    const tools = TOOLS.filter(({ kind }) => ECHOING.has(kind));
    await forEach(tools, isShared, async ({ listed }) => {
      // The manager uses the name of the service's registry line.
      const name = row.name === "manager" ? listed.replace(/^(?:pipe|web)__/, "").replace("words.", "") : listed;
      expect(await surface.call(name, args), name).toEqual({ value: args });
      expect(await surface.call("execute_tool", { name: listed, arguments: args }), name).toEqual({ value: args });
    });
  });

  // In sequence, because some of the failures end the server process that other calls use.
  test("reports each outcome code as the table specifies, by name and through execute_tool", async () => {
    for (const { kind, tool, args = {} } of FAILURES) {
      expect(await surface.call(tool, args), kind).toEqual({ failure: surface.told(kind) });
      // As the document requires, execute_tool reports an unknown name as a failure of the tool.
      const failure = surface.told(kind === "unknown_tool" ? "tool_error" : kind);
      expect(await surface.call("execute_tool", { name: tool, arguments: args }), kind).toEqual({ failure });
    }
  });

  test("reports a cancelled call as the table specifies, and the tool receives the signal", async () => {
    Object.assign(waits, { begun: createGate(), ended: createGate() });
    const caller = new AbortController();
    const call = surface.call("fail.waits", {}, caller.signal);
    await waits.begun.opened;
    caller.abort();
    expect(await call).toEqual({ failure: surface.told("cancelled") });
    await waits.ended.opened;
  });

  if (isShared)
    test("reports limited as the table specifies when the hub limits a tool", async () => {
      single = createGate();
      const calls = [surface.call("fail.single", {}), surface.call("fail.single", {})];
      const failure = surface.told("limited");
      // The call that is being served continues until the gate opens.
      expect(await Promise.race(calls)).toEqual({ failure });
      single.open();
      expect(await Promise.all(calls)).toEqual(expect.arrayContaining([{ value: "alone" }, { failure }]));
    });

  if (hasPrincipals)
    test("reports denied as the table specifies to a caller with fewer rights", async () => {
      const narrow = await open(yard, NARROW);
      try {
        // A tool that the caller may not use is denied as well.
        const denied = narrow.call("fail.thrown", {});
        expect(await denied).toEqual({ failure: surface.told("denied") });
        expect(await narrow.call("words.say", { text: "x" })).toEqual({ value: { text: "x" } });
      } finally {
        await narrow.close();
      }
    });
});
