// One truth: a tool of every kind of provider, through every surface, under every spelling of its name, gives one
// value; and each kind of failure, provoked for real, is told by every surface as the table of kinds says.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parseExact } from "../../src/core/json/exact-json.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { KINDS, type FailKind } from "../../src/core/calls/kinds.ts";
import { BuiltinProvider } from "../../src/providers/builtin/provider.ts";
import { createGate, type Gate } from "../fixtures/hub-stand-in.ts";
import type { Surface } from "./surface.ts";
import { FULL, NARROW, SurfaceYard } from "./surface-yard.ts";
import { SURFACES, type SurfaceRow } from "./surfaces.ts";

interface ToolRow {
  readonly kind: string;
  readonly args: JsonObject;
  readonly value: unknown;
  /** As the hub lists it. */
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

/** The separators, the names that models' APIs take, and `mcp__` before it. */
const TOOLS: readonly ToolRow[] = [
  {
    kind: "module",
    ...SAID,
    listed: "words.say",
    spellings: ["say", "words.say", "words::say", "words__say", "words/say", "words_say", "mcp__words__say"],
  },
  {
    kind: "script",
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
    kind: "folder",
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
  // Consent is missing; what a caller's rights deny has a test of its own.
  { kind: "denied", tool: "fail.destroys" },
  // The server behind it says so; what the hub itself bounds has a test of its own.
  { kind: "limited", tool: "web__busy" },
  { kind: "too_large", tool: "fail.big" },
  { kind: "unavailable", tool: "frail__die" },
  { kind: "needs_authorisation", tool: "locked__waits" },
  { kind: "timeout", tool: "fail.slow" },
  { kind: "malformed", tool: "frail__nonsense" },
  { kind: "internal", tool: "tool_search", args: { query: BREAKS() } },
];

/** What the provider that stands in for a broken one chokes on. */
function BREAKS(): string {
  return "break inside";
}

/** The kind that needs more than one call with arguments has a test of its own. */
const BY_CIRCUMSTANCE: readonly FailKind[] = ["cancelled"];

const waits: { begun: Gate; ended: Gate } = { begun: createGate(), ended: createGate() };
let yard: SurfaceYard;

beforeAll(async () => {
  Object.assign(globalThis, { surfaceYard: { begun: () => waits.begun.open(), ended: () => waits.ended.open() } });
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

test("each kind of failure of the table is provoked", () => {
  expect([...FAILURES.map(({ kind }) => kind), ...BY_CIRCUMSTANCE].toSorted()).toEqual(Object.keys(KINDS).toSorted());
});

describe.each(Object.entries<SurfaceRow>(SURFACES))(
  "%s",
  (surfaceName, { open, hasPrincipals = false, isShared = true }) => {
    let surface: Surface;
    beforeAll(async () => {
      surface = await open(yard, FULL);
    });
    afterAll(() => surface.close());

    test.each(TOOLS)(
      "the tool of kind $kind gives its value under every spelling, and through execute_tool",
      async ({ kind, args, value, listed, spellings }) => {
        const got: Record<string, unknown> = {};
        const one = async (name: string): Promise<void> => {
          got[name] = await surface.call(name, args);
          // What a tool's process costs is paid once by its own name.
          if (kind !== "folder" || name === listed)
            got[`execute_tool ${name}`] = await surface.call("execute_tool", { name, arguments: args });
        };
        if (isShared) await Promise.all(spellings.map(one));
        else for (const name of spellings) await one(name);
        expect(got).toEqual(Object.fromEntries(Object.keys(got).map((name) => [name, { value }])));
      },
    );

    test.each(TOOLS.filter(({ kind }) => kind !== "builtin"))(
      "passes integers beyond 2^53 to the tool of kind $kind and back exactly, and through execute_tool",
      async ({ listed }) => {
        const args = { text: "9007199254740993", ids: parseExact(`[${LONG_INTEGERS.join(",")}]`) };
        // The manager knows a service by a line of its own.
        const name = surfaceName === "manager" ? listed.replace(/^(?:pipe|web)__/, "").replace("words.", "") : listed;
        expect(await surface.call(name, args)).toEqual({ value: args });
        expect(await surface.call("execute_tool", { name: listed, arguments: args })).toEqual({ value: args });
      },
    );

    test.each(FAILURES)("$kind is told as the table says", async ({ kind, tool, args = {} }) => {
      expect(await surface.call(tool, args)).toEqual({ failure: surface.told(kind) });
    });

    // In the document's words, what execute_tool does not find is the tool's failure.
    test.each(FAILURES)("$kind is told as the table says through execute_tool", async ({ kind, tool, args = {} }) => {
      const told = surface.told(kind === "unknown_tool" ? "tool_error" : kind);
      expect(await surface.call("execute_tool", { name: tool, arguments: args })).toEqual({ failure: told });
    });

    test("cancelled is told as the table says, and the tool hears of it", async () => {
      Object.assign(waits, { begun: createGate(), ended: createGate() });
      const caller = new AbortController();
      const call = surface.call("fail.waits", {}, caller.signal);
      await waits.begun.opened;
      caller.abort();
      expect(await call).toEqual({ failure: surface.told("cancelled") });
      await waits.ended.opened;
    });

    if (isShared)
      test("limited is told as the table says when the hub itself bounds a tool", async () => {
        const answers = await Promise.all([surface.call("fail.single", {}), surface.call("fail.single", {})]);
        expect(answers).toEqual(expect.arrayContaining([{ value: "alone" }, { failure: surface.told("limited") }]));
      });

    if (hasPrincipals)
      test("denied is told as the table says to a caller with fewer rights", async () => {
        const narrow = await open(yard, NARROW);
        try {
          // Nor does a tool that the caller has no right to.
          const denied = narrow.call("fail.thrown", {});
          expect(await denied).toEqual({ failure: surface.told("denied") });
          expect(await narrow.call("words.say", { text: "x" })).toEqual({ value: { text: "x" } });
        } finally {
          await narrow.close();
        }
      });
  },
);
