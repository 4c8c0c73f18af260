import { describe, expect, test } from "vitest";
import type { Identity } from "../../core/calls/identity.ts";
import { permissionOf, supposedName } from "../../core/ports/rights.ts";
import { LiveRoles } from "./live-roles.ts";
import { assertRoles, type RoleConfig, type RoleReads } from "./options.ts";
import { isMember } from "./role-members.ts";

function identity(more: Partial<Identity> = {}): Identity {
  return {
    kind: "user",
    id: "https://i|user|1",
    name: "ann",
    issuer: "https://i",
    groups: [],
    scopes: [],
    claims: {},
    ...more,
  };
}

const TOKEN = identity({ kind: "token", id: "ci", name: "ci" });
const CLIENT = identity({ kind: "client", id: "https://i|client|bot", name: "bot", clientId: "bot" });

describe("members of a role", () => {
  test.each<[RoleConfig["members"], Identity, boolean]>([
    [{ tokens: ["ci"] }, TOKEN, true],
    [{ tokens: ["ann"] }, identity(), false],
    [{ users: ["ci"] }, TOKEN, false],
    [{ users: ["ann"] }, identity(), true],
    [{ users: ["https://i|user|1"] }, identity(), true],
    [{ users: ["bot"] }, CLIENT, false],
    [{ users: ["Ann"] }, identity(), false],
    [{ users: ["a*"] }, identity(), false],
    [{ groups: ["staff"] }, identity({ groups: ["other", "staff"] }), true],
    [{ groups: ["staff"] }, identity(), false],
    [{ clients: ["bot"] }, CLIENT, true],
    [{ clients: ["bot"] }, identity({ clientId: "bot" }), false],
    [{ claims: { dept: "it" } }, identity({ claims: { dept: "it" } }), true],
    [{ claims: { dept: "it" } }, identity({ claims: { dept: ["hr", "it"] } }), true],
    [{ claims: { dept: ["it", "hr"] } }, identity({ claims: { dept: "hr" } }), true],
    [{ claims: { dept: "it", level: 3 } }, identity({ claims: { dept: "it", level: "3" } }), false],
    [{ claims: { dept: "it", level: 3 } }, identity({ claims: { dept: "it", level: 3 } }), true],
    [{ claims: { dept: "it" } }, identity({ claims: { dept: "it", iss: "https://other.example" } }), false],
    [
      { claims: { dept: "it" }, issuer: "https://other.example" },
      identity({ claims: { dept: "it", iss: "https://other.example" } }),
      true,
    ],
    [{ claims: {} }, identity(), false],
    [{ claims: { toString: "x" } }, identity(), false],
    [{ users: ["ann"], issuer: "https://i" }, identity(), true],
    [{ users: ["ann"], issuer: "https://other" }, identity(), false],
    [{ everyone: true }, TOKEN, true],
    [{ everyone: true }, identity(), true],
    [{}, identity(), false],
    [undefined, identity(), false],
  ])("a role with the members %j contains the identity %j: %s", (members, one, expected) => {
    expect(isMember(one, members)).toBe(expected);
  });
});

function permitted(config: RoleReads, one: Identity): string[] | undefined {
  const grant = new LiveRoles(() => config).grant(one);
  if (!grant) return undefined;
  const { permits } = permissionOf(grant.rights);
  const subjects = ["a", "b"].flatMap((source) =>
    [true, false].map((isReadOnly) => ({
      ...supposedName({ namespace: source, separator: "__", source }, isReadOnly ? "read" : "write"),
      isReadOnly,
    })),
  );
  return subjects.filter((subject) => permits(subject)).map(({ name }) => name);
}

const MEMBER = { members: { everyone: true } };

describe("rights of an identity", () => {
  test("are unlimited without configured roles; with roles, a caller that signs in needs one", () => {
    expect(permitted({}, identity())).toHaveLength(4);
    expect(permitted({ roles: { other: { members: { users: ["bob"] } } } }, identity())).toBeUndefined();
    expect(permitted({ roles: { other: {} } }, TOKEN)).toHaveLength(4);
  });

  test("combine the rights of its roles, without operations that any role denies", () => {
    const reader = { ...MEMBER, read_only: true };
    const writer = { ...MEMBER, sources: ["b"] };
    expect(permitted({ roles: { reader } }, identity())).toEqual(["a__read", "b__read"]);
    expect(permitted({ roles: { reader, writer } }, identity())).toEqual(["a__read", "b__read", "b__write"]);
    const careful = { ...MEMBER, deny: ["b::write"], allow: [] };
    expect(permitted({ roles: { reader, writer, careful } }, identity())).toEqual(["a__read", "b__read"]);
    expect(permitted({ roles: { all: MEMBER, careful } }, identity())).toEqual(["a__read", "a__write", "b__read"]);
    expect(permitted({ roles: { none: { ...MEMBER, allow: [] } } }, identity())).toEqual([]);
  });

  test("have the highest rate of its roles, and the scopes that its roles permit", () => {
    const grantOf = (roles: NonNullable<RoleReads["roles"]>, one: Identity) =>
      new LiveRoles(() => ({ roles })).grant(one);
    const roles = { a: { ...MEMBER, rate_per_minute: 5, scopes: ["x"] }, b: { ...MEMBER, rate_per_minute: 9 } };
    expect(grantOf(roles, identity({ scopes: ["x", "y"] }))).toMatchObject({ ratePerMinute: 9, scopes: ["x"] });
    expect(grantOf(roles, TOKEN)).toMatchObject({ scopes: ["x"], roles: ["a", "b"] });
    expect(grantOf({ a: { ...MEMBER, rate_per_minute: 0 }, b: roles.b }, TOKEN)).toMatchObject({ ratePerMinute: 0 });
    expect(grantOf({ b: MEMBER }, identity({ scopes: ["y"] }))).toMatchObject({ scopes: ["y"] });
  });

  test("stay the same object until the configuration changes", () => {
    let config: RoleReads = { roles: { a: MEMBER } };
    const roles = new LiveRoles(() => config);
    const one = identity();
    expect(roles.grant(one)).toBe(roles.grant(one));
    config = { roles: { b: { members: { users: ["bob"] } } } };
    expect(roles.grant(one)).toBeUndefined();
  });
});

test.each<[RoleReads, RegExp]>([
  [{ roles: { "a b": {} } }, /role's name/],
  [{ roles: { a: { scopes: ["x"] } } }, /`roles\.a\.scopes` names `x`, which is not in `\[scopes\]`/],
  [{ roles: { a: { members: { tokens: ["ci"] } } }, server: {} }, /names `ci`, which is not in `\[server\.tokens\]`/],
  [{ scopes: { "a b": { required_by: ["*"] } } }, /"a b" is no scope/],
  [{ scopes: { 'a"b': { required_by: ["*"] } } }, /is no scope/],
])("refuses %j", (config, message) => {
  expect(() => assertRoles(config)).toThrow(message);
});
