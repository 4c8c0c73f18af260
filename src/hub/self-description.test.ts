import { expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import type { ProviderKind } from "../core/provider-kinds.ts";
import { EMPTY_LISTING } from "../core/records.ts";
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
const INFO = {
  title: "One",
  description: "It does.",
  icons: [{ src: "https://example.test/i.png" }],
  websiteUrl: "https://example.test",
  "x-info": 1,
};

test("a lone source's words are the hub's, but for its name and version", () => {
  const capabilities = { tools: {}, experimental: { a: {} }, extensions: { "x/y": { v: 1 } }, "x-capability": 1 };
  expect(describeSources([BUILTIN, source("one", capabilities, INFO)])).toMatchObject({
    about: INFO,
    capabilities,
  });
  expect(describeSources([source("one", capabilities, INFO)]).about).toEqual(INFO);
});

test("removes invisible characters from the texts of a lone source", () => {
  const { about } = describeSources([source("one", {}, { title: "O\u202ene", description: "It does." })]);
  expect(about).toEqual({ title: "One", description: "It does." });
});

test("several sources: nobody's identity, extensions joined by id, lists that one may have, nothing else", () => {
  const one = source(
    "one",
    { prompts: {}, experimental: { a: {} }, extensions: { "x/y": { v: 1 } }, "x-capability": 1 },
    INFO,
  );
  const two = source("two", { resources: { "x-r": 1 }, extensions: { "x/y": { v: 2 }, "x/z": {} } });
  const { about, capabilities } = describeSources([one, two]);
  expect(about).toBeUndefined();
  expect(capabilities).toEqual({ prompts: {}, resources: {}, extensions: { "x/y": { v: 1 }, "x/z": {} } });
});

test("a lone source without a server says nothing of itself", () => {
  expect(describeSources([BUILTIN, source("scripts", undefined, {}, "scripts")])).toMatchObject({
    capabilities: {},
  });
});
