import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NamedSubject, NarrowRights, UriSubject } from "./permission.ts";
import { explainRights, describeRights } from "./rights-text.ts";
import {
  EVERYTHING,
  permissionOf,
  readOnlyRights,
  rightsOfEvery,
  rightsOfSome,
  rightsWithin,
  supposedName,
  type Rights,
} from "./rights.ts";

function named(source: string, name: string, more: Partial<NamedSubject> = {}): NamedSubject {
  return { ...supposedName({ namespace: source, separator: "__", source }, name), isReadOnly: false, ...more };
}

function resource(source: string, own: string): UriSubject {
  return { type: "uri", shown: own, own, prefix: `${source}+`, source };
}

const permits = (rights: Rights, subject: NamedSubject | UriSubject) => permissionOf(rights).permits(subject);

describe("a pattern with the id of a source", () => {
  const bare = named("", "open", { source: "vault", ownName: "open", name: "open" });

  test.each([
    ["vault::*", named("vault", "open"), true],
    ["vault::open", bare, true],
    ["vault::op?n", named("vault", "open"), true],
    ["vault::vault__open", named("vault", "open"), false],
    ["pub::open", named("vault", "open"), false],
    ["*::open", named("vault", "open"), true],
    ["vault::file:///a/*", resource("vault", "file:///a/b"), true],
    ["vault::file:///a/*", resource("pub", "file:///a/b"), false],
    ["vault::*", resource("vault", "file:///a/b"), true],
  ])("%s matches only the name at that source", (pattern, subject, isMeant) => {
    expect(permits({ allow: [pattern] }, subject)).toBe(isMeant);
    expect(permits({ deny: [pattern] }, subject)).toBe(!isMeant);
  });

  test("permits no name or URI of another source with the same spelling", () => {
    const squatting = named("", "vault::open", { source: "evil" });
    expect(permits({ allow: ["vault::*"] }, squatting)).toBe(false);
    expect(permits({ allow: ["vault::*"] }, resource("evil", "vault::open"))).toBe(false);
    expect(permits({ deny: ["vault::*"] }, squatting)).toBe(false);
  });

  test("denies an unlisted name of that source in every spelling that its server may accept", () => {
    const subject = named("vault", "Open", { isUnlisted: true });
    expect(permits({ deny: ["vault::open"] }, subject)).toBe(false);
    expect(permits({ deny: ["pub::open"] }, subject)).toBe(true);
  });

  test("an address in brackets is not the id of a source", () => {
    expect(permits({ allow: ["http://[::1]/*"] }, resource("web", "http://[::1]/a"))).toBe(true);
  });
});

describe("limits by source and by type", () => {
  test.each<[NarrowRights, NamedSubject | UriSubject, boolean]>([
    [{ sources: ["vault"] }, named("vault", "open"), true],
    [{ sources: ["vault"] }, named("pub", "open"), false],
    [{ sources: ["v*"] }, resource("vault", "file:///a"), true],
    [{ sources: ["vault"] }, resource("pub", "file:///a"), false],
    [{ sources: [] }, named("vault", "open"), false],
    [{ sources: ["*"] }, named("vault", "open", { source: undefined as never }), false],
    [{ tools: ["vault__*"] }, named("vault", "open"), true],
    [{ tools: [] }, named("vault", "open", { isPrompt: true }), true],
    [{ tools: [] }, resource("vault", "file:///a"), true],
    [{ prompts: [] }, named("vault", "open", { isPrompt: true }), false],
    [{ prompts: [] }, named("vault", "open"), true],
    [{ resources: ["file:///a/*"] }, resource("vault", "file:///a/b"), true],
    [{ resources: ["file:///a/*"] }, resource("vault", "file:///b"), false],
    [{ allow: ["*"], tools: ["pub__*"] }, named("vault", "open"), false],
    [{ allow: ["pub__*"], tools: ["*"] }, named("vault", "open"), false],
    [{ sources: [], tools: [] }, named("hub", "tool_search", { isDiscovery: true }), true],
    [{ sources: [], deny: ["tool_*"] }, named("", "tool_search", { isDiscovery: true }), false],
  ])("rights %j for %j: permitted %s", (rights, subject, expected) => {
    expect(permits(rights, subject)).toBe(expected);
  });
});

describe("rights of several limits and of several grants", () => {
  const names = ["vault__open", "vault__peek", "pub__hello", "pub__open"];
  const pattern = fc.constantFrom("*", "vault__*", "pub::*", "*::open", "vault::peek", "*open", "nothing");
  const narrow: fc.Arbitrary<Rights> = fc
    .record(
      {
        allow: fc.array(pattern, { maxLength: 3 }),
        deny: fc.array(pattern, { maxLength: 2 }),
        readOnly: fc.boolean(),
        sources: fc.subarray(["vault", "pub"]),
        tools: fc.array(pattern, { maxLength: 2 }),
        origin: fc.constantFrom("role a", "role b"),
      },
      { requiredKeys: [] },
    )
    .map(rightsWithin);
  const rights = fc.letrec<{ any: Rights; every: Rights; some: Rights }>((tie) => ({
    any: fc.oneof({ maxDepth: 3 }, narrow, fc.constant<Rights>(EVERYTHING), tie("every"), tie("some")),
    every: fc.array(tie("any"), { maxLength: 3 }).map(rightsOfEvery),
    some: fc.array(tie("any"), { maxLength: 3 }).map(rightsOfSome),
  })).any;
  const subject = fc.tuple(fc.constantFrom(...names), fc.boolean()).map(([name, isReadOnly]) => {
    const [source = "", bare = ""] = name.split("__");
    return named(source, bare, { isReadOnly });
  });

  test("permit a subject if all limits permit it, or if one grant permits it", () => {
    fc.assert(
      fc.property(fc.array(rights, { maxLength: 4 }), subject, (parts, one) => {
        expect(permits(rightsOfEvery(parts), one)).toBe(parts.every((part) => permits(part, one)));
        expect(permits(rightsOfSome(parts), one)).toBe(parts.some((part) => permits(part, one)));
      }),
    );
  });

  test("read-only rights permit only read-only tools of the permitted ones", () => {
    fc.assert(
      fc.property(rights, subject, (whole, one) => {
        expect(permits(readOnlyRights(whole), one)).toBe(permits(whole, one) && one.isReadOnly);
      }),
    );
  });

  test("equal keys mean equal rights, and rights can be converted to JSON and back", () => {
    fc.assert(
      fc.property(rights, rights, subject, (one, other, about) => {
        const copy = JSON.parse(JSON.stringify(one)) as Rights;
        expect(permissionOf(copy).key).toBe(permissionOf(one).key);
        expect(permits(copy, about)).toBe(permits(one, about));
        if (permissionOf(one).key === permissionOf(other).key) expect(permits(one, about)).toBe(permits(other, about));
        if (!permissionOf(one).isNarrowed) expect(permits(one, about)).toBe(true);
      }),
    );
  });

  test("the explanation agrees with the permission and names a rule", () => {
    fc.assert(
      fc.property(rights, subject, (whole, one) => {
        const { permitted, rule } = explainRights(whole, one);
        expect(permitted).toBe(permits(whole, one));
        expect(rule).not.toBe("");
      }),
    );
  });
});

test.each<[Rights, string]>([
  [EVERYTHING, "nothing limits these rights"],
  [{ deny: ["vault::*"], origin: "role a" }, "role a: `deny` matches by `vault::*`"],
  [{ allow: ["pub__*", "vault__*"], origin: "role a" }, "role a: `allow` matches by `vault__*`"],
  [{ readOnly: true }, "`read_only` permits only tools with `readOnlyHint`"],
  [{ sources: ["pub"] }, "`sources` does not name the source `vault`"],
  [{ tools: ["x"], origin: "profile p" }, "profile p: nothing in `tools` matches"],
  [{ every: [{ deny: ["x"] }, { allow: ["*"] }] }, "`allow` matches by `*`"],
  [
    {
      some: [
        { allow: [], origin: "role a" },
        { readOnly: true, origin: "role b" },
      ],
    },
    "role a: nothing in `allow`",
  ],
])("explains rights %j with the rule %s", (rights, rule) => {
  expect(explainRights(rights, named("vault", "open")).rule).toContain(rule);
});

test("the description of rights contains the number of denied patterns and not their text", () => {
  const rights = rightsOfEvery([
    { deny: ["vault__*"], origin: "role a" },
    { allow: ["pub__*"], origin: "role a" },
  ]);
  expect(describeRights(rights)).toEqual(["role a: deny has 1 pattern", 'role a: allow = ["pub__*"]']);
});
