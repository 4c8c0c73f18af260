// Tests every spelling of a tool name for each kind of source. All endpoints resolve names through the catalog, so
// `test/endpoints/matrix.test.ts` calls each tool by only two spellings.
import { afterAll, beforeAll, expect, test } from "vitest";
import { MemoryProvider } from "../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL, type ToolMode } from "../core/calls/call.ts";
import type { View } from "../core/ports/hub-port.ts";
import { PROVIDER_KINDS } from "../core/sources/provider-kinds.ts";
import type { Rights } from "../core/ports/rights.ts";
import type { Source } from "../core/sources/records.ts";
import { Catalog } from "./catalog.ts";
import { resolveCatalog } from "./options.ts";
import type { Snapshot } from "./snapshot.ts";

const SEPARATORS = ["::", "__", ".", "/"] as const;

interface KindRow {
  readonly source: Pick<Source, "id" | "kind" | "namespace">;
  /** Name of the tool in its source. */
  readonly own: string;
  readonly isQualified?: boolean;
  /** Name of the tool in the hub's list. */
  readonly listed: string;
  readonly spellings: readonly string[];
}

const behind = (prefix: string, name: string): readonly string[] =>
  SEPARATORS.map((separator) => `${prefix}${separator}${name}`);

const ROWS: readonly KindRow[] = [
  {
    source: { id: "modules", kind: "modules", namespace: "" },
    own: "words.say",
    isQualified: true,
    listed: "words.say",
    spellings: ["say", ...behind("words", "say"), "words_say", "mcp__words__say", "mcp__hub__words__say"],
  },
  {
    source: { id: "scripts", kind: "scripts", namespace: "" },
    own: "say_script",
    listed: "say_script",
    spellings: ["say_script", ...behind("scripts", "say_script"), "mcp__scripts__say_script", "mcp__hub__say_script"],
  },
  {
    source: { id: "folders", kind: "folders", namespace: "" },
    own: "say_folder",
    listed: "say_folder",
    spellings: ["say_folder", ...behind("folders", "say_folder"), "mcp__folders__say_folder", "mcp__hub__say_folder"],
  },
  {
    source: { id: "pipe", kind: "stdio", namespace: "pipe" },
    own: "say.here",
    listed: "pipe__say.here",
    spellings: [
      "say.here",
      ...behind("pipe", "say.here"),
      "pipe__say_here",
      "mcp__pipe__say.here",
      "mcp__pipe__say_here",
      "mcp__hub__pipe__say.here",
    ],
  },
  {
    source: { id: "web", kind: "http", namespace: "web" },
    own: "say.there",
    listed: "web__say.there",
    spellings: [
      "say.there",
      ...behind("web", "say.there"),
      "web__say_there",
      "mcp__web__say.there",
      "mcp__web__say_there",
      "mcp__hub__web__say.there",
    ],
  },
  {
    source: { id: "builtin", kind: "builtin", namespace: "" },
    own: "tool_search",
    listed: "tool_search",
    spellings: ["tool_search", ...behind("builtin", "tool_search"), "mcp__builtin__tool_search", "mcp__tool_search"],
  },
  {
    source: { id: "default_tools", kind: "defaults", namespace: "" },
    own: "internet_search",
    listed: "internet_search",
    spellings: [
      "internet_search",
      ...behind("default_tools", "internet_search"),
      "mcp__default_tools__internet_search",
    ],
  },
];

const CASES = ROWS.flatMap((row) => row.spellings.map((spelling) => ({ ...row, kind: row.source.kind, spelling })));
const MODES: readonly ToolMode[] = ["normal", "discovery", "all"];

let catalog: Catalog;
let snapshot: Snapshot;

beforeAll(async () => {
  const providers = ROWS.map(({ source, own, isQualified = false }) =>
    new MemoryProvider(source).offerTools({
      name: own,
      ...(isQualified && { qualified: true }),
      ...(source.kind === "builtin" && { role: "discovery" as const }),
    }),
  );
  catalog = new Catalog(resolveCatalog({ change_delay_ms: 1 }), providers);
  snapshot = await catalog.snapshot();
});
afterAll(() => catalog.close());

function view(mode: ToolMode, rights?: Rights): View {
  return { mode, principal: rights ? { id: "someone", rights } : LOCAL_PRINCIPAL };
}

test.each(CASES)(
  "$spelling resolves to the tool $listed of kind $kind in every mode",
  ({ spelling, listed, source }) => {
    for (const mode of MODES)
      expect(snapshot.resolveTool(spelling, view(mode)), mode).toMatchObject({ found: true, name: listed, source });
  },
);

test.each(CASES)("$spelling is denied to a caller without the right to $listed", ({ spelling, listed }) => {
  for (const mode of MODES)
    expect(snapshot.resolveTool(spelling, view(mode, { deny: [listed] })), mode).toMatchObject({
      found: false,
      failure: { kind: "denied" },
    });
});

test.each(CASES)("$spelling with an additional letter resolves to no tool", ({ spelling }) => {
  for (const mode of MODES)
    expect(snapshot.resolveTool(`${spelling}x`, view(mode)), mode).toMatchObject({
      found: false,
      failure: { kind: "unknown_tool" },
    });
});

test("the table of spellings has a row for each kind of source", () => {
  expect(ROWS.map(({ source }) => source.kind).toSorted()).toEqual(Object.keys(PROVIDER_KINDS).toSorted());
});

test("a name without prefix that two sources have is ambiguous, and each full name resolves to one tool", async () => {
  const two = ["one", "two"].map((id) => new MemoryProvider({ id }).offerTools("twin"));
  const both = new Catalog(resolveCatalog({ change_delay_ms: 1 }), two);
  const shown = await both.snapshot();
  for (const name of ["twin", "mcp__twin"])
    expect(shown.resolveTool(name, view("normal")), name).toMatchObject({ failure: { kind: "ambiguous" } });
  for (const id of ["one", "two"])
    for (const name of [...behind(id, "twin"), `mcp__${id}__twin`])
      expect(shown.resolveTool(name, view("normal")), name).toMatchObject({ source: { id } });
  both.close();
});
