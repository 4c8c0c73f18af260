import { expect, test } from "vitest";
import type { JsonObject } from "../core/json/json.ts";
import type { ProviderKind } from "../core/sources/provider-kinds.ts";
import { EMPTY_LISTING } from "../core/sources/records.ts";
import { describeSources, type SourceOffer } from "./self-description.ts";

function source(
  id: string,
  capabilities?: JsonObject,
  info: JsonObject = {},
  kind: ProviderKind = "stdio",
): SourceOffer {
  return {
    source: { id, kind, namespace: id, order: 0 },
    listing: {
      ...EMPTY_LISTING,
      ...(capabilities && { server: { info: { name: id, version: "9", ...info }, capabilities } }),
    },
  };
}

const BUILTIN = source("builtin", undefined, {}, "builtin");
const UI = "io.modelcontextprotocol/ui";
const WHOLE = { passesMethods: true };

const INFO = {
  title: "One",
  description: "It does.",
  icons: [{ src: "https://example.test/i.png" }],
  websiteUrl: "https://example.test",
  "x-info": 1,
};

test("returns the texts of the only source as the hub's, except for its name and version", () => {
  const capabilities = { tools: {}, experimental: { a: {} }, extensions: { "x/y": { v: 1 } }, "x-capability": 1 };
  expect(describeSources([BUILTIN, source("one", capabilities, INFO)], WHOLE)).toMatchObject({
    about: INFO,
    capabilities,
  });
  expect(describeSources([source("one", capabilities, INFO)], WHOLE).about).toEqual(INFO);
});

test("removes invisible characters from the texts of the only source", () => {
  const info = { title: "O\u202ene", description: "It does." };
  expect(describeSources([source("one", {}, info)], WHOLE).about).toEqual({ title: "One", description: "It does." });
});

test("for several sources, returns no server info, and only extensions without methods", () => {
  const one = source(
    "one",
    {
      prompts: {},
      experimental: { a: {} },
      extensions: { "x/y": {}, [UI]: { mimeTypes: ["a"], same: 1, other: 1 } },
      "x-capability": 1,
    },
    INFO,
  );
  const two = source("two", {
    resources: { "x-r": 1 },
    extensions: { "x/z": {}, [UI]: { mimeTypes: ["b", "a"], same: 1, other: 2, own: true } },
  });
  const { about, capabilities } = describeSources([one, two], WHOLE);
  expect(about).toBeUndefined();
  const settings = { mimeTypes: ["a", "b"], same: 1, own: true };
  expect(capabilities).toEqual({ prompts: {}, resources: {}, extensions: { [UI]: settings } });
});

test("the only source declares no extension with methods to a caller that cannot call these methods", () => {
  const declared = {
    prompts: { a: 1 },
    experimental: {},
    extensions: { "x/y": {}, [UI]: { a: 1 } },
    "x-capability": 1,
  };
  const { capabilities } = describeSources([source("one", declared)], { passesMethods: false });
  expect(capabilities).toEqual({ prompts: { a: 1 }, extensions: { [UI]: { a: 1 } } });
});

test("returns no description for a single source that is not a server", () => {
  expect(describeSources([BUILTIN, source("scripts", undefined, {}, "scripts")], WHOLE)).toMatchObject({
    capabilities: {},
  });
});
