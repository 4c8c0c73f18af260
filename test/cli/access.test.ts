// Rights of callers in the output of the command line: from the configuration, and from a running hub.
import { expect, test } from "vitest";
import { Desk, seen } from "./harness.ts";
import { SERVER } from "./small-server.ts";

const TOML = `[server]
port = 0
tokens.ci = { token = "ci-secret-123", deny = ["small__cwd"] }
tokens.plain = { token = "plain-secret-1" }
[mcp.stdio_servers.small]
command = ["node", "server.mjs"]
[roles.reader]
allow = ["small::*"]
deny = ["small::pid"]
members.tokens = ["ci"]
members.groups = ["staff"]
[scopes.echo]
required_by = ["small::echo"]
[profiles.one]
tools = ["small::echo"]
[profiles.staff]
roles = ["reader"]
`;
const FILES = { "server.mjs": SERVER, "toolyard.toml": TOML };

test.each<[string[], number, string]>([
  [["plain", "small__pid"], 0, "plain can use small__pid: nothing limits these rights."],
  [["token:ci", "small__pid"], 1, "token:ci cannot use small__pid: role reader: `deny` matches by `small::pid`."],
  [["ci", "small.cwd"], 1, "ci cannot use small__cwd: token ci: `deny` matches by `small__cwd`."],
  [["ci", "meta.ping"], 1, "ci cannot use meta.ping: role reader: nothing in `allow` matches."],
  [["plain", "echo"], 1, "small__echo needs the scope echo. A role of the token plain must have it"],
  [["group:staff", "small__echo"], 0, "Its access token needs the scope echo."],
  [["role:reader", "small__echo"], 0, "role reader: `allow` matches by `small::*`."],
  [["user:ann", "small__echo"], 2, "No role has the member user:ann"],
  [["local", "small__pid", "--profile", "one"], 1, "profile one: nothing in `tools` matches."],
  [["plain", "small__pid", "--profile", "staff"], 1, "profile staff: `roles` names no role of the caller."],
  [["nobody", "small__pid"], 2, "There is no token `nobody`. `[server]` has: ci, plain."],
  [["role:none", "small__pid"], 2, "There is no role `none`. `[roles]` has: reader."],
  [["ci", "small__pig"], 3, "Unknown tool: small__pig"],
])("`toolyard can` with %j exits with %i and names the rule", async (words, code, text) => {
  await using desk = await Desk.create(FILES);
  const ran = await desk.run(["can", ...words, "--yes"]);
  expect([ran.code, ran.stdout + ran.stderr]).toEqual([code, expect.stringContaining(text)]);
});

test("`toolyard can` uses the groups of the hub's own users, and refuses users that do not exist", async () => {
  const own = TOML.replace("[server]\n", '[auth]\nmodes = ["tokens", "builtin"]\n[server]\n');
  await using desk = await Desk.create({ ...FILES, "toolyard.toml": own });
  for (const words of [["ann", "--group", "staff"], ["bob"]]) await desk.run(["user", "add", ...words]);
  const can = async (user: string): Promise<readonly [number | null, string]> => {
    const ran = await desk.run(["can", `user:${user}`, "small__pid", "--yes"]);
    return [ran.code, ran.stdout + ran.stderr];
  };
  expect(await can("ann")).toEqual([1, expect.stringContaining("role reader: `deny` matches by `small::pid`")]);
  expect(await can("bob")).toEqual([2, expect.stringContaining("No role has the member user:bob")]);
  expect(await can("eve")).toEqual([2, expect.stringContaining("There is no user `eve`")]);
});

test("whoami shows the caller as a running hub sees it, also within a profile, and requires a token", async () => {
  await using desk = await Desk.create(FILES);
  const hub = desk.start(["serve", "--json", "--yes"]);
  const [, url = ""] = await seen(hub.stdout!, /"url":"([^"]+)"/);
  const env = { TOOLYARD_TOKEN: "ci-secret-123" };
  const own = await desk.run(["whoami", "--url", url], { env });
  expect([own.code, own.stdout]).toEqual([0, expect.stringMatching(/caller: ci\nkind: token[^]*roles: reader/)]);
  const within = await desk.run(["whoami", "--url", `${url}/staff`, "--json"], { env });
  expect(JSON.parse(within.stdout)).toMatchObject({ id: "ci", roles: ["reader"], profile: "staff" });
  const refused = await desk.run(["whoami", "--url", `${url}/staff`], { env: { TOOLYARD_TOKEN: "plain-secret-1" } });
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^denied: http.*There is no profile "staff"/),
  ]);
  const without = await desk.run(["whoami", "--url", url]);
  expect([without.code === 0, without.stderr]).toEqual([false, expect.stringContaining("requires a token (HTTP 401)")]);
});

test("check counts the tools of profiles, and warns of patterns and sources that match nothing", async () => {
  const broken = `${TOML}[profiles.typo]\nsources = ["smal"]\ntools = ["small::ehco"]\ndeny = ["small::pid"]\n`;
  await using desk = await Desk.create({ ...FILES, "toolyard.toml": broken });
  const ran = await desk.run(["check", "--yes"]);
  expect([ran.code, ran.stdout]).toEqual([
    0,
    expect.stringMatching(/profile +tools +prompts +resources\n.*\none +1 +0 +0/),
  ]);
  expect(ran.stdout).toContain(
    "`profiles.typo.sources` names the source `smal`, and there is none. Did you mean small?",
  );
  expect(ran.stdout).toContain("`profiles.typo.tools`: the pattern `small::ehco` matches no tool, prompt or resource.");
  expect(ran.stdout).not.toMatch(/profiles\.typo\.deny|roles\.reader/);
});

test("status shows the contents of the profiles of a running hub", async () => {
  await using desk = await Desk.create(FILES);
  const hub = desk.start(["serve", "--json", "--yes"]);
  const [, url = ""] = await seen(hub.stdout!, /"url":"([^"]+)"/);
  const env = { TOOLYARD_TOKEN: "plain-secret-1" };
  await desk.run(["list", "--url", url], { env });
  const { stdout } = await desk.run(["status", "--url", url, "--json"], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    profiles: [{ name: "one", tools: 1, prompts: 0, resources: 0 }, { name: "staff" }],
  });
  expect((await desk.run(["status", "--url", url], { env })).stdout).toMatch(/profile +tools/);
});

test("the output of serve names the sign-in instead of a token if the hub accepts no tokens", async () => {
  await using desk = await Desk.create({ "toolyard.toml": '[auth]\nmodes = ["builtin"]\n[server]\nport = 0\n' });
  const hub = desk.start(["serve", "--yes"]);
  const [shown] = await seen(hub.stdout!, /callers need|clients open the sign-in[^]*"type":"http"[^\n]*\n/);
  expect(shown).toContain("these commands need an access token: export TOOLYARD_TOKEN=…");
  expect(shown).not.toContain("Authorization");
});

test("check warns of an administrator of the console whose rights are narrowed", async () => {
  const narrow = `${TOML}[console]\nadmins = ["role:reader", "token:gone"]\n`;
  await using desk = await Desk.create({ ...FILES, "toolyard.toml": narrow });
  const ran = await desk.run(["check", "--yes", "--json"]);
  expect((JSON.parse(ran.stdout) as { warnings: string[] }).warnings.filter((text) => /console/.test(text))).toEqual([
    expect.stringMatching(/^`console\.admins` names `role:reader`, whose rights are narrowed \(role reader: /),
    expect.stringMatching(/^`console\.admins` names `token:gone`, and it has no effect: There is no token `gone`/),
  ]);
});
