import { describe, expect, test } from "vitest";
import { MemoryProvider } from "../../../../test/fixtures/memory-provider.ts";
import { LOCAL_PRINCIPAL } from "../core/calls/call.ts";
import { NO_SHAPE, type ListingShape } from "../core/sources/listing-shape.ts";
import { EMPTY_LISTING, type Source } from "../core/sources/records.ts";
import type { NarrowRights } from "../core/ports/permission.ts";
import { Catalog } from "./catalog.ts";
import { resolveCatalog } from "./options.ts";
import type { Snapshot } from "./snapshot.ts";

const UNLISTED: ListingShape = { ...NO_SHAPE, unlisted: true };

interface Server extends Partial<Source> {
  readonly lists?: readonly string[];
}

async function open(...servers: readonly (Server & { readonly id: string })[]): Promise<Snapshot> {
  const providers = servers.map(({ lists = [], shape, ...source }, order) => {
    const provider = new MemoryProvider({ order, ...(shape && { shape }), ...source });
    return lists.length > 0 ? provider.offerTools(...lists) : (provider.offer({}), provider);
  });
  return new Catalog(resolveCatalog(), providers).snapshot();
}

function called(snapshot: Snapshot, name: string, rights?: NarrowRights): string {
  const principal = rights ? { id: "guest", rights } : LOCAL_PRINCIPAL;
  const lookup = snapshot.resolveTool(name, { mode: "all", principal });
  return lookup.found ? `${lookup.source.id} ${lookup.target.tool.name} as ${lookup.name}` : lookup.failure.kind;
}

describe("tool that its server does not list", () => {
  test.each([
    ["s__hidden", "s hidden as s__hidden"],
    ["s::hidden", "s hidden as s__hidden"],
    ["s.hidden", "s hidden as s__hidden"],
    ["mcp__toolyard__s__hidden", "s hidden as s__hidden"],
    ["s__a__b", "s a__b as s__a__b"],
    ["plain__hidden", "plain hidden as plain__hidden"],
    ["calc_server__hidden", "calc_server hidden as calc__hidden"],
  ])("can be called with its prefix if the source allows it: `%s`", async (name, expected) => {
    const snapshot = await open(
      { id: "s", shape: UNLISTED, lists: ["shown"] },
      { id: "plain", namespace: "", shape: UNLISTED },
      { id: "calc_server", namespace: "calc", shape: UNLISTED },
    );
    expect(called(snapshot, name)).toBe(expected);
    expect(snapshot.tools({ mode: "all", principal: LOCAL_PRINCIPAL }).map((tool) => tool.name)).toEqual(["s__shown"]);
  });

  test("is unknown without a prefix, and at a source that does not allow it", async () => {
    const snapshot = await open({ id: "s", shape: UNLISTED }, { id: "other", lists: ["shown"] });
    for (const name of ["hidden", "mcp__hidden", "other__hidden", "nobody__hidden", "s__", "s"])
      expect(called(snapshot, name), name).toBe("unknown_tool");
  });

  test.each<readonly [string, Partial<ListingShape>, string]>([
    ["exclude", { exclude: ["hid*"] }, "unknown_tool"],
    ["include", { include: ["shown"] }, "unknown_tool"],
    ["an include that has it", { include: ["hid*"] }, "s hidden as s__hidden"],
    ["a pin", { pins: { hidden: "" } }, "unknown_tool"],
    ["a pin with a digest", { pins: { hidden: "2:abc" } }, "unknown_tool"],
    ["a pin of another tool", { pins: { other: "" } }, "s hidden as s__hidden"],
  ])("is restricted by %s", async (_, shape, expected) => {
    const snapshot = await open({ id: "s", shape: { ...UNLISTED, ...shape }, lists: ["shown"] });
    expect(called(snapshot, "s__hidden")).toBe(expected);
  });

  const SPELLINGS = [
    "DANGER",
    "Danger",
    "danger ",
    " danger",
    "danger\n",
    "dan\tger",
    "danger\0",
    "dan\u200bger",
    "dan\u00adger",
    "\ufeffdanger",
    "danger\u2028",
    "\u{e0001}danger",
    "dan\ud800ger",
    "ｄａｎｇｅｒ",
    "dängér",
    "ⓓanger",
    "danger\u3000",
    "_danger",
    "danger_",
    "-danger",
    "x__danger",
    "x.danger",
    "x::DANGER",
    "mcp__hub__danger",
    "/danger",
    "./danger",
    "danger\u0301",
    "DANGER\u200d",
    `${"x.".repeat(20)}danger`,
  ];
  test.each<readonly [string, Partial<ListingShape>, readonly string[]]>([
    ["exclude", { exclude: ["danger"] }, []],
    ["an exclude in another case", { exclude: ["Dan*"] }, []],
    ["an exclude with a prefix", { exclude: ["x__danger"] }, []],
    ["a pin", { pins: { danger: "" } }, []],
    ["the listed tool", {}, ["danger", "x__danger"]],
    ["a listed tool that is renamed", { rename: { danger: "harmless" } }, ["danger", "x__danger"]],
    ["the new name of another tool", { exclude: ["x__*", "x.*", "x::*", "mcp__*"], rename: { other: "danger" } }, []],
  ])("is restricted by %s in each spelling that its server may accept", async (_, shape, lists) => {
    const snapshot = await open({ id: "s", shape: { ...UNLISTED, ...shape }, lists: ["shown", ...lists] });
    const rights = lists.length > 0 ? { deny: ["s__danger", "s__x__danger"] } : undefined;
    for (const name of SPELLINGS)
      expect(called(snapshot, `s__${name}`, rights), JSON.stringify(name)).toMatch(/^(?:unknown_tool|denied)$/);
    expect(called(snapshot, "s__stranger")).toBe("s stranger as s__stranger");
    expect(called(snapshot, "s__my tool")).toMatch(/^s my tool as /);
  });

  test.each(SPELLINGS)("is denied by rights in each spelling: %j", async (name) => {
    const snapshot = await open({ id: "s", shape: UNLISTED }, { id: "t", shape: UNLISTED });
    for (const pattern of ["s__danger", "s__dan*"])
      expect(called(snapshot, `s__${name}`, { deny: [pattern] })).toMatch(/^(?:unknown_tool|denied)$/);
    expect(called(snapshot, "t__danger", { deny: ["s__danger"] })).toBe("t danger as t__danger");
    expect(called(snapshot, "s__stranger", { deny: ["s__danger"] })).toBe("s stranger as s__stranger");
  });

  test("does not replace a tool that is listed and withheld", async () => {
    const shape = { ...UNLISTED, exclude: ["left"], pins: { changed: "2:0" } };
    const snapshot = await open({ id: "s", shape, lists: ["left", "changed", "fine"] });
    expect(["s__left", "s__changed"].map((name) => called(snapshot, name))).toEqual(["unknown_tool", "unknown_tool"]);
    expect(called(snapshot, "s__fine")).toBe("s fine as s__fine");
    expect(snapshot.whyWithheld("s__left")).toContain("`include` and `exclude` of the source s leave it out");
  });

  test("can be called by the name that `rename` sets, and by its own name", async () => {
    const snapshot = await open({ id: "s", shape: { ...UNLISTED, rename: { hidden: "shown" } } });
    expect(called(snapshot, "s__shown")).toBe("s hidden as s__shown");
    expect(called(snapshot, "s__hidden")).toBe("s hidden as s__shown");
  });

  test.each<readonly [NarrowRights, string]>([
    [{ allow: ["s__*"] }, "s hidden as s__hidden"],
    [{ allow: ["s__hidden"] }, "s hidden as s__hidden"],
    [{ deny: ["s__other"] }, "s hidden as s__hidden"],
    [{ allow: ["other__*"] }, "denied"],
    [{ deny: ["s__hid*"] }, "denied"],
    [{ deny: ["*hidden"] }, "denied"],
    [{ readOnly: true }, "denied"],
  ])("is restricted by the caller's rights: %j", async (rights, expected) => {
    const snapshot = await open({ id: "s", shape: UNLISTED });
    for (const name of ["s__hidden", "s::hidden", "mcp__hub__s__hidden"])
      expect(called(snapshot, name, rights), name).toBe(expected);
  });

  test("does not bypass rights to a listed tool", async () => {
    const snapshot = await open({ id: "s", shape: UNLISTED, lists: ["shown"] });
    for (const name of ["s__shown", "s::shown"])
      expect(called(snapshot, name, { deny: ["s__shown"] }), name).toBe("denied");
  });

  test("is not searched at another source, nor before its source was listed", async () => {
    const snapshot = await open({ id: "s", shape: UNLISTED }, { id: "s__deep", lists: ["shown"] });
    expect(called(snapshot, "s__deep__hidden")).toBe("unknown_tool");
    const cold = new MemoryProvider({ id: "s", shape: UNLISTED });
    cold.answer = EMPTY_LISTING;
    expect(called(await new Catalog(resolveCatalog(), [cold]).snapshot(), "s__hidden")).toBe("unknown_tool");
  });

  test("gets the configured description and time limit of its server", async () => {
    const shape = { ...UNLISTED, toolTimeouts: { hidden: 7 }, descriptions: { hidden: "Hides." } };
    const snapshot = await open({ id: "s", shape });
    const lookup = snapshot.resolveTool("s__hidden", { mode: "all", principal: LOCAL_PRINCIPAL });
    expect(lookup).toMatchObject({
      isUnlisted: true,
      target: { tool: { description: "Hides.", limits: { timeoutMs: 7 }, inputSchema: { type: "object" } } },
    });
    expect(snapshot.problems).toEqual([]);
  });
});

test("`notListing` returns the server that does not list a tool if the option would make it callable", async () => {
  const snapshot = await open(
    { id: "s", lists: ["shown"] },
    { id: "t", shape: UNLISTED },
    { id: "f", kind: "scripts" },
  );
  expect(["s__hidden", "t__hidden", "f__hidden", "hidden"].map((name) => snapshot.notListing(name)?.id)).toEqual([
    "s",
    undefined,
    undefined,
    undefined,
  ]);
});
