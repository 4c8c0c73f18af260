import fc from "fast-check";
import { expect, test } from "vitest";
import { applyValue } from "./apply-value.ts";
import { valueAt } from "./tree-path.ts";
import { TomlDocument } from "./toml-document.ts";

const TEXT = `# The hub of the team.
[server]
port = 8808 # the usual one
# Keep this.
host = "127.0.0.1"

[server.tokens.ops]
token = "t"

[mcp.stdio_servers.files]
command = ["npx", "-y", "server-files"] # pinned elsewhere
env = { MODE = "ro" }

# Two remote servers.
[[mcp.remote_servers]]
namespace = "one"
url = "https://one.example/mcp"

[[mcp.remote_servers]]
namespace = "two"
url = "https://two.example/mcp"
`;

const edit = async (path: readonly string[], value: unknown, text = TEXT): Promise<string> =>
  (await applyValue(await TomlDocument.parse("toolyard.toml", text), path, value)).text;

test.each([
  ["a number", ["server", "port"], 9000, 'port = 9000 # the usual one\n# Keep this.\nhost = "127.0.0.1"'],
  [
    "a new key of a table",
    ["server", "base_path"],
    "/yard",
    'host = "127.0.0.1"\nbase_path = "/yard"\n\n[server.tokens',
  ],
  [
    "one member of a table",
    ["server"],
    { port: 1, host: "::1", tokens: { ops: { token: "t" } } },
    "port = 1 # the usual",
  ],
  ["an item of a list", ["mcp", "stdio_servers", "files", "command"], ["npx", "-y", "x"], '"x"] # pinned elsewhere'],
  [
    "a longer list",
    ["mcp", "stdio_servers", "files", "command"],
    ["npx", "-y", "server-files", "."],
    '"server-files", "."]',
  ],
  ["a shorter list", ["mcp", "stdio_servers", "files", "command"], ["npx", "server-files"], '["npx", "server-files"]'],
  [
    "a key of an inline table",
    ["mcp", "stdio_servers", "files", "env"],
    { MODE: "ro", A: "1" },
    '{ MODE = "ro", A = "1" }',
  ],
  [
    "a member of a list of tables",
    ["mcp", "remote_servers", "1", "url"],
    "https://x.example",
    'namespace = "two"\nurl = "https://x.example"',
  ],
  ["a section that is missing", ["search", "embedding"], "none", '\n[search]\nembedding = "none"\n'],
  ["a whole table that is missing", ["search"], { limit: 5 }, "\n[search]\nlimit = 5\n"],
  [
    "a server of a table",
    ["mcp", "stdio_servers", "b"],
    { command: ["x"] },
    '\n[mcp.stdio_servers.b]\ncommand = ["x"]\n',
  ],
])("changes %s and keeps all other text", async (_name, path, value, expected) => {
  const text = await edit(path, value);
  expect(text).toContain(expected);
  for (const comment of ["# The hub of the team.", "# the usual one", "# Keep this.", "# Two remote servers."])
    expect(text).toContain(comment);
  expect(valueAt((await TomlDocument.parse("x", text)).tree, path)).toEqual(value);
});

test("adds an entry at the end of a list of tables, and removes the first one with its comment", async () => {
  const entries = ["one", "two", "three"].map((name) => ({ namespace: name, url: `https://${name}.example/mcp` }));
  const longer = await edit(["mcp", "remote_servers"], entries);
  expect(longer).toBe(`${TEXT}\n[[mcp.remote_servers]]\nnamespace = "three"\nurl = "https://three.example/mcp"\n`);
  const shorter = await edit(["mcp", "remote_servers"], entries.slice(1), longer);
  expect(shorter).not.toContain("one.example");
  expect(shorter).toContain('namespace = "two"\nurl = "https://two.example/mcp"\n');
});

test("for `undefined`, removes a key or a table, and nothing else", async () => {
  expect(await edit(["server", "host"], undefined)).not.toContain("host");
  expect(await edit(["server", "tokens"], undefined)).not.toContain("tokens");
  expect(await edit(["nothing", "here"], undefined)).toBe(TEXT);
});

test("returns the same document for an equal value", async () => {
  const document = await TomlDocument.parse("toolyard.toml", TEXT);
  expect(await applyValue(document, ["server", "port"], 8808)).toBe(document);
});

test.each([
  ["dotted keys", "[mcp.stdio_servers]\na.command = 'x'\n", ["mcp", "stdio_servers", "a", "cwd"], "/", 'a.cwd = "/"'],
  ["an inline section", "server = { port = 1 }\n", ["server", "port"], 2, "{ port = 2 }"],
  [
    "a quoted key",
    '[mcp.stdio_servers."a b"]\ncommand = "x"\n',
    ["mcp", "stdio_servers", "a b", "cwd"],
    "/",
    'cwd = "/"',
  ],
  ["Windows line breaks", "[server]\r\nport = 1\r\n", ["server", "host"], "::1", 'port = 1\r\nhost = "::1"\r\n'],
  ["a list over several lines", 'a = [\n  "x", # first\n  "y",\n]\n', ["a"], ["x", "z"], '"x", # first\n  "z",'],
])("edits %s", async (_name, text, path, value, expected) => {
  expect(await edit(path, value, text)).toContain(expected);
});

test("refuses a value that TOML does not have, and changes nothing", async () => {
  await expect(edit(["server", "host"], null)).rejects.toThrow("Nothing was written");
});

const KEYS = fc.constantFrom("a", "b", "c d", "e");
const scalar = fc.oneof(fc.string({ maxLength: 5 }), fc.integer({ min: -9, max: 9 }), fc.boolean());
const table: fc.Arbitrary<Record<string, unknown>> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    tie("table"),
    fc.array(tie("table") as fc.Arbitrary<object>, { maxLength: 2 }),
  ),
  table: fc.dictionary(KEYS, tie("value"), { maxKeys: 3 }),
})).table as fc.Arbitrary<Record<string, unknown>>;

test("changes any value to any other one or refuses, and never results in a third value", async () => {
  let refused = 0;
  const seen = { count: 0 };
  await fc.assert(
    fc.asyncProperty(table, table, async (before, after) => {
      seen.count += 1;
      const { stringify } = await import("smol-toml");
      const start = await TomlDocument.parse("x", `# top\n\n${stringify({ root: before, other: { x: 1 } })}`);
      try {
        const changed = await applyValue(start, ["root"], after);
        expect(withoutEmpty(changed.tree)).toEqual(withoutEmpty({ root: after, other: { x: 1 } }));
        expect(changed.text).toContain("# top");
      } catch (error) {
        if (!(error instanceof Error) || error.name !== "ConfigError") throw error;
        refused += 1;
      }
    }),
    { numRuns: 200, seed: 36 },
  );
  expect(refused).toBeLessThan(seen.count / 5);
});

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  return Object.fromEntries(
    members.filter(([, member]) => typeof member !== "object" || member === null || Object.keys(member).length > 0),
  );
}
