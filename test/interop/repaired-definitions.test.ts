// Definitions that the protocol does not allow, in the form that the hub lists: official clients parse each of them.
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import * as v1 from "@modelcontextprotocol/sdk/types.js";
import * as v2 from "@modelcontextprotocol/core";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FULL_TOOL, PROMPTS, RESOURCES, TEMPLATES } from "../fixtures/upstreams/rich-offers.mjs";
import { mutationsOf } from "../support/mutate-members.ts";
import { definitionDigest } from "../../packages/toolyard/src/core/sources/definition-digest.ts";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { NO_SHAPE } from "../../packages/toolyard/src/core/sources/listing-shape.ts";
import { EMPTY_LISTING, type Listing, type Source } from "../../packages/toolyard/src/core/sources/records.ts";
import { LegacyCodecs } from "../../packages/toolyard/src/endpoints/mcp/legacy/codec.ts";
import { toListing } from "../../packages/toolyard/src/providers/mcp-server/records.ts";
import type { ServerListing } from "../../packages/toolyard/src/upstream/listing/listing.ts";
import { LATEST_LEGACY_REVISION } from "../../packages/toolyard/src/wire/legacy/revisions.ts";
import { RowList } from "../../packages/toolyard/src/catalog/rendered-list.ts";
import { ListingShaper } from "../../packages/toolyard/src/catalog/shape-listing.ts";
import { PartMaker } from "../../packages/toolyard/src/catalog/source-part.ts";
import { resolveCatalog } from "../../packages/toolyard/src/catalog/options.ts";

const SOURCE: Source = { id: "quirky", kind: "stdio", namespace: "", order: 0 };
const LISTS = ["tools", "prompts", "resources", "templates"] as const;
type ListName = (typeof LISTS)[number];

const RESULTS = {
  tools: { member: "tools", v1: v1.ListToolsResultSchema, v2: v2.ListToolsResultSchema },
  prompts: { member: "prompts", v1: v1.ListPromptsResultSchema, v2: v2.ListPromptsResultSchema },
  resources: { member: "resources", v1: v1.ListResourcesResultSchema, v2: v2.ListResourcesResultSchema },
  templates: {
    member: "resourceTemplates",
    v1: v1.ListResourceTemplatesResultSchema,
    v2: v2.ListResourceTemplatesResultSchema,
  },
} as const;

/** Returns the entries that the hub lists to a legacy client, and the problems that it reports. */
function listed(list: ListName, entries: readonly JsonObject[]): { entries: readonly JsonObject[]; listing: Listing } {
  const nothing: ServerListing = { ...EMPTY_LISTING, tools: [], resources: [], templates: [], prompts: [] };
  const given = toListing({ ...nothing, problems: [], [list]: entries }, SOURCE);
  const listing = new ListingShaper(SOURCE).shape(given);
  const part = new PartMaker(resolveCatalog({})).make(SOURCE, listing);
  const rows = new RowList(part[list]);
  const codec = new LegacyCodecs().for(LATEST_LEGACY_REVISION);
  return { entries: codec.list(list, rows).entries, listing };
}

/** Returns why an official client refuses a list of this one entry, if it does. */
function refusal(list: ListName, entry: JsonObject): string | undefined {
  const { member, ...schemas } = RESULTS[list];
  const result = { [member]: [entry] };
  for (const schema of [schemas.v1, schemas.v2]) {
    const parsed = schema.safeParse(result);
    if (!parsed.success) return parsed.error.message;
  }
  const { outputSchema } = entry;
  if (outputSchema === undefined) return undefined;
  try {
    // The v1 client compiles the output schemas of a list when it reads it.
    new AjvJsonSchemaValidator().getValidator(outputSchema as JsonObject);
  } catch (error) {
    return String(error);
  }
  return undefined;
}

const RICH: Readonly<Record<ListName, readonly JsonObject[]>> = {
  tools: [FULL_TOOL as JsonObject, { ...FULL_TOOL, execution: { taskSupport: "optional" } }],
  prompts: PROMPTS as JsonObject[],
  resources: RESOURCES as JsonObject[],
  templates: TEMPLATES as JsonObject[],
};

/** Mutations that the hub repairs or withholds although the SDKs accept them. The schemas of MCP forbid them too. */
const STRICTER =
  /^size = -1\.5$|taskSupport = "required"|\$schema = |minLength = |\.type = (""|0|false|null)|\.properties\.\w+ = \[|^arguments\.\d\.title/;

/** The modern era allows a boolean schema and an output of any type; the legacy era expresses them differently. */
const MEANS_THE_SAME = /\.properties\.\w+ = (true|false)$|^outputSchema( = \{|\.type = )/;

describe.each(LISTS)("%s", (list) => {
  test(`official clients parse the ${list} that the hub lists for any mutated member`, () => {
    const mutations = RICH[list].flatMap((entry) => mutationsOf(entry));
    expect(mutations.length).toBeGreaterThan(100);
    for (const { title, value } of mutations) {
      const key = list === "tools" || list === "prompts" ? "name" : list === "resources" ? "uri" : "uriTemplate";
      // The reader of lists leaves out entries without a usable name.
      if (typeof value[key] !== "string" || value[key] === "") continue;
      const { entries, listing } = listed(list, [value]);
      const before = refusal(list, value);
      for (const entry of entries) expect(refusal(list, entry), title).toBeUndefined();
      if (before === undefined && !STRICTER.test(title)) expect(entries, title).toEqual([value]);
      if (before !== undefined && !MEANS_THE_SAME.test(title))
        expect(listing.problems, title).toMatchObject([{ source: "quirky", subject: value[key] }]);
    }
  });

  test(`a valid entry of ${list} stays the same object and is listed byte for byte`, () => {
    const { entries, listing } = listed(list, RICH[list].slice(0, 1));
    expect(JSON.stringify(entries)).toBe(JSON.stringify(RICH[list].slice(0, 1)));
    expect(listing.problems).toEqual([]);
    expect(listing[list][0]!.definition).toBe(RICH[list][0]);
  });
});

test("official clients parse lists of entries with several mutated members each", () => {
  const pools = Object.fromEntries(LISTS.map((list) => [list, RICH[list].flatMap((entry) => mutationsOf(entry))]));
  const spoiled = fc.constantFrom(...LISTS).chain((list) =>
    fc.record({
      list: fc.constant(list),
      // Each further mutation is applied to the result of the previous one.
      picks: fc.array(fc.nat(), { minLength: 2, maxLength: 5 }),
    }),
  );
  fc.assert(
    fc.property(spoiled, ({ list, picks }) => {
      let entry = pools[list]![picks[0]! % pools[list]!.length]!.value;
      for (const pick of picks.slice(1)) {
        const further = mutationsOf(entry);
        if (further.length > 0) entry = further[pick % further.length]!.value;
      }
      const key = { tools: "name", prompts: "name", resources: "uri", templates: "uriTemplate" }[list];
      if (typeof entry[key] !== "string" || entry[key] === "") return;
      for (const one of listed(list, [entry]).entries) expect(refusal(list, one)).toBeUndefined();
    }),
    { seed: 30, numRuns: 120 },
  );
});

const tool = (more: JsonObject): JsonObject => ({ name: "t", inputSchema: { type: "object" }, ...more });
const input = (more: JsonObject): JsonObject => tool({ inputSchema: { type: "object", ...more } });

describe("repairs", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["a title of null", tool({ title: null }), tool({})],
    ["annotations that are a list", tool({ annotations: [] }), tool({})],
    [
      "one hint of null",
      tool({ annotations: { readOnlyHint: null, title: "T" } }),
      tool({ annotations: { title: "T" } }),
    ],
    ["_meta of null", tool({ _meta: null }), tool({})],
    [
      "an icon without a source",
      tool({ icons: [{ src: null }, { src: "data:," }] }),
      tool({ icons: [{ src: "data:," }] }),
    ],
    ["an unknown theme", tool({ icons: [{ src: "data:,", theme: "blue" }] }), tool({ icons: [{ src: "data:," }] })],
    ["execution of null", tool({ execution: null }), tool({})],
    ["an unknown word for tasks", tool({ execution: { taskSupport: "maybe" } }), tool({ execution: {} })],
    ["properties that are a list", input({ properties: [] }), input({})],
    ["required of null", input({ required: null }), input({})],
    ["required that is an object", input({ required: {} }), input({})],
    ["required that is text", input({ required: "a" }), input({})],
    ["a required name that is a number", input({ required: ["a", 1] }), input({ required: ["a"] })],
    ["a property of null", input({ properties: { a: null } }), input({ properties: { a: {} } })],
    ["a property that is text", input({ properties: { a: "string" } }), input({ properties: { a: {} } })],
    ["an input schema of null", tool({ inputSchema: null }), tool({})],
    ["an input schema that is an empty list", tool({ inputSchema: [] }), tool({})],
    ["an input type of null", tool({ inputSchema: { type: null, minProperties: 1 } }), input({ minProperties: 1 })],
    ["an output schema of null", tool({ outputSchema: null }), tool({})],
    [
      "an output pattern that no engine reads",
      tool({ outputSchema: { type: "object", properties: { a: { pattern: "(" } } } }),
      tool({}),
    ],
    [
      "an output reference into another document",
      tool({ outputSchema: { type: "object", $ref: "https://example.test/s.json" } }),
      tool({}),
    ],
    [
      "an output property that is marked as required",
      tool({ outputSchema: { type: "object", properties: { a: { required: true } } } }),
      tool({}),
    ],
    [
      "an output type that is unknown",
      tool({ outputSchema: { type: "object", properties: { a: { type: "int" } } } }),
      tool({}),
    ],
  ])("%s, reports it and offers the tool", (_what, given, expected) => {
    const { entries, listing } = listed("tools", [given, tool({ name: "good" })]);
    expect(entries).toEqual([expected, tool({ name: "good" })]);
    expect(listing.problems).toMatchObject([{ source: "quirky", subject: "t", repaired: true }]);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["a resource without a name", { uri: "a:b" }, { uri: "a:b", name: "a:b" }],
    ["a resource with a name of null", { uri: "a:b", name: null, title: "T" }, { uri: "a:b", name: "a:b", title: "T" }],
    ["a size of null", { uri: "a:b", name: "n", size: null }, { uri: "a:b", name: "n" }],
    ["a size with a fraction", { uri: "a:b", name: "n", size: 1.5 }, { uri: "a:b", name: "n" }],
    ["a media type of null", { uri: "a:b", name: "n", mimeType: null }, { uri: "a:b", name: "n" }],
    [
      "an unknown audience, a priority over 1 and a day without a time",
      { uri: "a:b", name: "n", annotations: { audience: ["user", "robot"], priority: 2, lastModified: "2026-01-31" } },
      { uri: "a:b", name: "n", annotations: { audience: ["user"] } },
    ],
    [
      "a day that no calendar has",
      { uri: "a:b", name: "n", annotations: { lastModified: "2026-02-29T00:00:00Z", priority: 1 } },
      { uri: "a:b", name: "n", annotations: { priority: 1 } },
    ],
  ])("%s, reports it and offers the resource", (_what, given, expected) => {
    const { entries, listing } = listed("resources", [given]);
    expect(entries).toEqual([expected]);
    expect(listing.problems).toMatchObject([{ source: "quirky", subject: "a:b", repaired: true }]);
  });

  test("repairs a prompt's arguments one by one", () => {
    const args = [{ name: "a", required: "yes" }, { description: "No name" }, null, { name: "b", description: null }];
    const { entries, listing } = listed("prompts", [{ name: "p", description: 5, arguments: args }]);
    expect(entries).toEqual([{ name: "p", arguments: [{ name: "a" }, { name: "b" }] }]);
    expect(listing.problems[0]!.message).toContain("`arguments[1].name` must be text, got nothing: left out");
    expect(listed("prompts", [{ name: "p", arguments: {} }]).entries).toEqual([{ name: "p" }]);
  });

  test("names each member with the received value, at most eight", () => {
    const hints = { title: null, readOnlyHint: "yes", destructiveHint: 1, idempotentHint: [], openWorldHint: {} };
    const { listing } = listed("tools", [tool({ annotations: hints })]);
    expect(listing.problems[0]!.message).toBe(
      "Clients would refuse the whole list because of it. `annotations.title` must be text, got null: left out; " +
        '`annotations.readOnlyHint` must be true or false, got "yes": left out; ' +
        "`annotations.destructiveHint` must be true or false, got 1: left out; " +
        "`annotations.idempotentHint` must be true or false, got an empty list: left out; " +
        "`annotations.openWorldHint` must be true or false, got an object: left out.",
    );
    const many = Array.from({ length: 20 }, () => ({ src: 1 }));
    expect(listed("tools", [tool({ icons: many })]).listing.problems[0]!.message).toMatch(/; and 12 more\.$/);
  });
});

describe("withholds", () => {
  test.each<[string, JsonObject, string]>([
    [
      "an input schema of type string",
      tool({ inputSchema: { type: "string" } }),
      '`inputSchema` must be a schema of type object, got "string".',
    ],
    [
      "an input schema that is text",
      tool({ inputSchema: "object" }),
      '`inputSchema` must be a schema of type object, got "object".',
    ],
  ])("%s, with the reason, and offers the others", (_what, given, reason) => {
    const { entries, listing } = listed("tools", [given, tool({ name: "good" })]);
    expect(entries.map(({ name }) => name)).toEqual(["good"]);
    expect(listing.problems).toMatchObject([
      { source: "quirky", subject: "t", withheld: expect.stringContaining(reason) },
    ]);
    expect(listing.problems[0]!.repaired).toBeUndefined();
  });
});

test("a digest pinned for the definition as the server sends it approves the repaired tool", () => {
  const definition = tool({ annotations: { readOnlyHint: null }, title: null });
  const pins = { t: definitionDigest(definition) };
  const shaper = new ListingShaper({ ...SOURCE, shape: { ...NO_SHAPE, pins } });
  const given = toListing({ ...EMPTY_LISTING, tools: [definition], resources: [], templates: [], prompts: [] }, SOURCE);
  expect(shaper.shape(given).tools[0]!.definition).toEqual(tool({ annotations: {} }));
});
