import { expect, test } from "vitest";
import { LiveRoles } from "../features/roles/live-roles.ts";
import { resolveHttp } from "../http/options.ts";
import type { Hub } from "../hub/hub.ts";
import { UsageError } from "./failure.ts";
import { adminFindings } from "./admin-findings.ts";

type Tree = Hub["config"]["tree"];

const TOKENS = { ops: { token: "t-1" }, few: { token: "t-2", allow: ["a__*"] }, both: { token: "t-3" } };
const ROLES = {
  all: { members: { tokens: ["both"], groups: ["staff"], users: ["ann"] } },
  reader: { read_only: true, members: { groups: ["readers"], users: ["bob"] } },
  careful: { deny: ["x"], members: { users: ["eve"], groups: ["careful"] } },
  partial: { sources: ["a"], members: { tokens: ["both"], groups: ["staff"] } },
};

function findingsFor(admins: readonly string[], more: Partial<Tree> = {}): readonly string[] {
  const tree = { server: { tokens: TOKENS }, roles: ROLES, console: { admins: [...admins] }, ...more } as Tree;
  const grants = new LiveRoles(() => tree);
  const groups: Readonly<Record<string, readonly string[]>> = { carl: ["readers"], dora: ["staff"] };
  return adminFindings(tree, {
    http: resolveHttp({ ...tree.server, insecure: true }),
    roles: tree.roles ?? {},
    grantRights: grants.grant.bind(grants),
    groupsOf: (name) => {
      if (name === "nobody") throw new UsageError("There is no user `nobody`.");
      return groups[name] ?? [];
    },
  });
}

test.each([
  ["a token without limits", "token:ops"],
  ["a role without limits", "role:all"],
  ["a user with a role without limits", "user:ann"],
  ["a user whose group has a role without limits", "user:dora"],
  ["a group with a role without limits besides a narrow one", "group:staff"],
  ["a token with a narrow role and one without limits", "token:both"],
  ["a group that no role has, because its members may have other roles", "group:unknown"],
  ["a user whose roles are known when the user signs in", "user:zoe"],
])("reports nothing for %s", (_name, admin) => {
  expect(findingsFor([admin])).toEqual([]);
});

test.each([
  ["a token with limits", "token:few", /narrowed \(token few: allow = \["a__\*"\]\)/],
  ["a narrow role", "role:reader", /narrowed \(role reader: read_only = true\)/],
  ["a role with a deny", "role:careful", /narrowed \(role careful: deny has 1 pattern\)/],
  ["a user with a narrow role", "user:bob", /role reader: read_only = true/],
  ["a user with a deny", "user:eve", /role careful: deny has 1 pattern/],
  ["a user whose group has a narrow role", "user:carl", /role reader/],
  ["a group with a narrow role", "group:readers", /role reader/],
])("reports %s with the limits", (_name, admin, text) => {
  const [finding, ...others] = findingsFor([admin, "token:ops"]);
  expect([finding, others]).toEqual([expect.stringMatching(text), []]);
  expect(finding).toContain(`\`console.admins\` names \`${admin}\`, whose rights are narrowed`);
  expect(finding).toContain("no Overview, Sources, Logs or Settings");
});

test.each([
  ["an unknown token", "token:opps", /no effect: There is no token `opps`/],
  ["an unknown role", "role:opps", /no effect: There is no role `opps`/],
  ["an unknown user of the hub's own sign-in", "user:nobody", /no effect: There is no user `nobody`/],
])("reports %s", (_name, admin, text) => {
  expect(findingsFor([admin])).toEqual([expect.stringMatching(text)]);
});

test("reports nothing if the console is disabled or has no `admins`", () => {
  expect(findingsFor([], { console: { enabled: false, admins: ["role:reader"] } })).toEqual([]);
  expect(findingsFor([], { console: {} })).toEqual([]);
  expect(findingsFor([], {})).toEqual([]);
});
