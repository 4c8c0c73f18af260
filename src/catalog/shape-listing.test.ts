import { expect, test } from "vitest";
import { definitionDigest } from "../core/definition-digest.ts";
import { NO_SHAPE, type ListingShape } from "../core/listing-shape.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../core/provider-kinds.ts";
import { EMPTY_LISTING, type Listing, type Source, type ToolRecord } from "../core/records.ts";
import { shapeListing } from "./shape-listing.ts";

function sourceOf(shape: Partial<ListingShape>, kind: ProviderKind = "scripts"): Source {
  return { id: "s", kind, namespace: "", order: 0, shape: { ...NO_SHAPE, ...shape } };
}

function toolOf(name: string, source: Source): ToolRecord {
  const inputSchema = { type: "object" };
  const definition = { name, description: "As it is.", inputSchema };
  return { source, name, description: "As it is.", inputSchema, keywords: ["own"], visibility: "native", definition };
}

function listingOf(source: Source, ...names: readonly string[]): Listing {
  return { ...EMPTY_LISTING, instructions: "Read me.", tools: names.map((name) => toolOf(name, source)) };
}

function shaped(shape: Partial<ListingShape>, ...names: readonly string[]): Listing {
  const source = sourceOf(shape);
  return shapeListing(listingOf(source, ...names), source);
}

test.each(Object.keys(PROVIDER_KINDS) as ProviderKind[])("a list of the kind %s is shaped like any other", (kind) => {
  const source = sourceOf({ exclude: ["b"], rename: { a: "first" } }, kind);
  const { tools } = shapeListing(listingOf(source, "a", "b"), source);
  expect(tools).toMatchObject([{ name: "a", alias: "first" }]);
});

test("`include` takes given and new names, `exclude` wins over it", () => {
  const { tools } = shaped(
    { include: ["read_*", "new"], exclude: ["read_b"], rename: { c: "new" } },
    "read_a",
    "read_b",
    "c",
    "d",
  );
  expect(tools.map(({ name }) => name)).toEqual(["read_a", "c"]);
});

test("a description, further keywords, a visibility and a time are put in place of the source's own or beside them", () => {
  const [tool] = shaped(
    { descriptions: { a: "Better." }, keywords: ["more"], visibility: "ondemand", toolTimeouts: { a: 5 } },
    "a",
  ).tools;
  expect(tool).toMatchObject({
    description: "Better.",
    keywords: ["own", "more"],
    visibility: "ondemand",
    limits: { timeoutMs: 5 },
  });
});

test("a tool of which nothing is said stays the same object, and so does a list of a source without a shape", () => {
  const source = sourceOf({ rename: { b: "c" } });
  const listing = listingOf(source, "a", "b");
  expect(shapeListing(listing, source).tools[0]).toBe(listing.tools[0]);
  const { shape: _shape, ...plain } = source;
  expect(shapeListing(listing, plain)).toBe(listing);
});

test("a pinned tool is offered while it is as it was, and not once it says something else", () => {
  const source = sourceOf({});
  const digest = definitionDigest(toolOf("a", source).definition);
  expect(shaped({ pins: { a: digest } }, "a").tools).toHaveLength(1);
  const refused = shaped({ pins: { a: "" } }, "a");
  expect(refused.tools).toEqual([]);
  expect(refused.problems).toMatchObject([{ subject: "a", message: expect.stringContaining(digest) }]);
});

test("the source's words on its use are handed on, unless the configuration says otherwise", () => {
  expect(shaped({}, "a").instructions).toBe("Read me.");
  expect(shaped({ instructions: false }, "a")).not.toHaveProperty("instructions");
});

test("a name that the source does not have is told, and nothing is told of an empty list", () => {
  const wrong = { rename: { x: "y" }, include: ["z*", "a"] };
  expect(shaped(wrong, "a").problems.map(({ subject }) => subject)).toEqual(["x", "z*"]);
  expect(shaped(wrong).problems).toEqual([]);
});
