import { expect, test } from "vitest";
import { Spellings, type NamedSource } from "./spelling.ts";

const SOURCES: readonly NamedSource[] = [
  { id: "good", namespace: "good" },
  { id: "good__more", namespace: "good__more" },
  { id: "calc_server", namespace: "calc" },
  { id: "bare", namespace: "" },
  { id: "my.server", namespace: "my.server" },
  { id: "größe", namespace: "größe" },
  { id: "modules", namespace: "" },
  { id: "other", namespace: "shared" },
  { id: "another", namespace: "shared" },
  { id: "one", namespace: "two" },
  { id: "two", namespace: "three" },
  { id: "7zip", namespace: "7zip" },
  { id: "long", namespace: `${"l".repeat(60)}` },
];

const spellings = new Spellings(SOURCES, {
  naming: { separator: "__", maxLength: 64 },
  carried: [
    ["text", "modules"],
    ["good__more__deep", "modules"],
    ["meta", "hub"],
  ],
  reserved: new Set(["tool_search"]),
});

/** Result of reading each spelling without lists: the sources that own it, and the rest after the prefix. */
const ROWS: readonly (readonly [spelling: string, owners: readonly string[], rest?: string])[] = [
  // Namespace and name with each separator.
  ["good__pay", ["good"], "pay"],
  ["good::pay", ["good"], "pay"],
  ["good.pay", ["good"], "pay"],
  ["good/pay", ["good"], "pay"],
  ["good__pay__all", ["good"], "pay__all"],
  ["good___pay", ["good"], "_pay"],
  ["good:pay", []],
  ["good_pay", []],
  ["good-pay", []],
  ["goodpay", []],
  ["GOOD__pay", []],
  ["Good.pay", []],
  [" good__pay", []],
  // Empty name or empty namespace.
  ["good__", []],
  ["good.", []],
  ["good", []],
  ["__pay", []],
  ["::pay", []],
  ["", []],
  // The longest namespace is read.
  ["good__more__pay", ["good__more"], "pay"],
  ["good__more.pay", ["good__more"], "pay"],
  ["good__more", ["good"], "more"],
  ["good__morepay", ["good"], "morepay"],
  ["good.more__pay", ["good"], "more__pay"],
  // The id of a source is read if no source has that namespace.
  ["calc__add", ["calc_server"], "add"],
  ["calc_server::add", ["calc_server"], "add"],
  ["bare__add", ["bare"], "add"],
  ["one__add", ["one"], "add"],
  ["two__add", ["one"], "add"],
  ["three__add", ["two"], "add"],
  // Several sources with one namespace.
  ["shared__add", ["other", "another"], "add"],
  // The namespace in the form of another surface.
  ["my.server__add", ["my.server"], "add"],
  ["my_server__add", ["my.server"], "add"],
  ["größe::add", ["größe"], "add"],
  ["groesse__add", ["größe"], "add"],
  ["_7zip__add", ["7zip"], "add"],
  [`${"l".repeat(55)}_0123abcd`, ["long"]],
  [`${"l".repeat(55)}_0123abcx`, []],
  [`${"l".repeat(54)}_0123abcd`, []],
  // Prefixes inside names rank below configured prefixes.
  ["text.upper", ["modules"], "upper"],
  ["text__upper", ["modules"], "upper"],
  ["good__more__deep__pay", ["good__more"], "deep__pay"],
  ["meta.ping", ["hub"], "ping"],
  // Prefixes that clients add.
  ["mcp__good__pay", ["good"], "pay"],
  ["mcp__hub__good__pay", ["good"], "pay"],
  ["mcp__my__hub__good__pay", ["good"], "pay"],
  ["mcp__good.pay", ["good"], "pay"],
  ["mcp__hub__good::pay", ["good"], "pay"],
  ["mcp__calc__good__pay", ["calc_server"], "good__pay"],
  ["mcp__hub__good__more__pay", ["good__more"], "pay"],
  ["mcp__hub__text.upper", ["modules"], "upper"],
  ["mcp__pay", []],
  ["mcp__hub__pay", []],
  ["mcp_good__pay", []],
  ["hub__good__pay", []],
  ["mcp__1__2__3__4__5__6__7__good__pay", ["good"], "pay"],
  ["mcp__1__2__3__4__5__6__7__8__good__pay", []],
  // Reserved names have no prefix.
  ["tool_search", []],
  ["mcp__hub__tool_search", []],
  ["good__tool_search", ["good"], "tool_search"],
];

for (const [spelling, owners, rest] of ROWS) {
  test(`C3: \`${spelling}\` belongs to ${owners.join(" and ") || "no source"}`, () => {
    const reading = spellings.read(spelling);
    expect([...(reading?.owners ?? [])]).toEqual(owners);
    expect(reading?.rests[0]).toBe(rest);
  });
}

test("C3: a source with the namespace `mcp` owns every spelling that begins with it", () => {
  const both = new Spellings([{ id: "mcp", namespace: "mcp" }, ...SOURCES], {
    naming: { separator: "__", maxLength: 64 },
  });
  expect([...both.read("mcp__good__pay")!.owners]).toEqual(["mcp"]);
  expect([...both.read("good__pay")!.owners]).toEqual(["good"]);
});

test.each([
  ["-", "good-pay", ["good"]],
  ["_", "good_pay", ["good"]],
  ["_", "good__pay", ["good"]],
  [".", "good_pay", ["good"]],
  ["--", "good-pay", []],
])("C3: with the separator `%s`, the spelling `%s` belongs to %j", (separator, spelling, owners) => {
  const own = new Spellings([{ id: "good", namespace: "good" }], { naming: { separator, maxLength: 64 } });
  expect([...(own.read(spelling)?.owners ?? [])]).toEqual(owners);
});

test("reads a spelling with both separators if two separators start at the same position", () => {
  const own = new Spellings([{ id: "a", namespace: "a" }], { naming: { separator: "_", maxLength: 64 } });
  expect(own.read("a__b")!.rests).toEqual(["b", "_b"]);
});

test.each([
  ["hub__good__pay", ["good"]],
  ["a__b__good.pay", ["good"]],
  ["tools.good.pay", ["good"]],
  ["functions.good__pay", ["good"]],
  ["functions::good/pay", ["good"]],
  ["default_api/good.pay", ["good"]],
  ["tools.hub.good.pay", ["good"]],
  ["tools.good", undefined],
  ["tools.goods.pay", undefined],
  [".good.pay", ["good"]],
  ["hub__good", undefined],
  ["hub_good__pay", undefined],
  ["hub__goods__pay", undefined],
  ["good__pay", undefined],
])("`%s` contains a prefix of %j", (name, owners) => {
  const found = spellings.ownersInside(name);
  expect(found && [...found]).toEqual(owners);
});

test("returns the name and each name after a prefix of a client, or only the reserved name among them", () => {
  expect(spellings.bareNames("mcp__hub__pay")).toEqual(["mcp__hub__pay", "hub__pay", "pay"]);
  expect(spellings.bareNames("pay")).toEqual(["pay"]);
  expect(spellings.bareNames("mcp__hub__tool_search")).toEqual(["tool_search"]);
});
