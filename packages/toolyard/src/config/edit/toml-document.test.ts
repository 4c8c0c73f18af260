import * as fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../core/errors.ts";
import { TomlDocument } from "./toml-document.ts";

const YARD = `# My yard. Do not touch.

[server]
port = 9000   # behind the proxy

# Notes and memory
[mcp.stdio_servers.memory]   # mine
command = ["npx", "-y", "memory"] # latest
# timeout = "60s"

  [mcp.stdio_servers.memory.env]
  KEY = "a#b]" # not a comment inside

# The web
[[mcp.remote_servers]]
namespace = "web"
url = "https://web.example/mcp"

[[mcp.remote_servers]] # second
namespace = "docs"
url = 'https://docs.example'
tool_timeouts = { "a.b" = "1s" }

# The end.
`;

const read = (text: string) => TomlDocument.parse("yard.toml", text);

describe("adding", () => {
  test("appends a table at the end, and leaves everything before unchanged", async () => {
    const { text } = await (
      await read(YARD)
    ).addAll([
      { path: ["mcp", "stdio_servers", "my files"], table: { command: ["a", 'b"c\\d\n'], env: { "A.B": "x" } } },
    ]);
    expect(text).toBe(
      `${YARD}\n[mcp.stdio_servers."my files"]\ncommand = ["a", "b\\"c\\\\d\\n"]\nenv = { "A.B" = "x" }\n`,
    );
  });

  test("extends a list of tables, or creates it", async () => {
    const more = await (
      await read(YARD)
    ).addAll([{ path: ["mcp", "remote_servers"], table: { namespace: "c" }, comment: "new", isEntry: true }]);
    expect(more.text).toBe(`${YARD}\n# new\n[[mcp.remote_servers]]\nnamespace = "c"\n`);
    const first = await (
      await read("")
    ).addAll([{ path: ["mcp", "remote_servers"], table: { namespace: "c" }, isEntry: true }]);
    expect(first.text).toBe(`[[mcp.remote_servers]]\nnamespace = "c"\n`);
  });

  test("adds a value to a list in brackets, with comments and trailing commas", async () => {
    const list = await read('[modules]\npaths = [\n  "a", # first\n  "b", # second\n]\n');
    expect((await list.addValue(["modules", "paths"], "c")).text).toBe(
      '[modules]\npaths = [\n  "a", # first\n  "b", "c", # second\n]\n',
    );
    expect((await (await read("[modules]\npaths = [ ]\n")).addValue(["modules", "paths"], "c")).text).toBe(
      '[modules]\npaths = ["c" ]\n',
    );
  });

  test("refuses to add to an inline table from outside, with the reason", async () => {
    const inline = await read('mcp = { stdio_servers = { a = { command = "x" } } }\n');
    const adding = inline.addAll([{ path: ["mcp", "stdio_servers", "b"], table: { command: "y" } }]);
    await expect(adding).rejects.toThrow(ConfigError);
    await expect(adding).rejects.toThrow("yard.toml: it has a form that cannot be edited automatically");
  });
});

describe("setting", () => {
  test("replaces the value of an existing key and keeps its comment", async () => {
    const { text } = await (await read(YARD)).set(["server"], "port", 1);
    expect(text).toBe(YARD.replace("port = 9000 ", "port = 1 "));
  });

  test("adds a new key below the last one of its table", async () => {
    const { text } = await (await read(YARD)).set(["mcp", "stdio_servers", "memory"], "enabled", false);
    expect(text).toBe(YARD.replace("# latest\n", "# latest\nenabled = false\n"));
    const entry = await (await read(YARD)).set(["mcp", "remote_servers", "0"], "enabled", false);
    expect(entry.text).toBe(YARD.replace('web.example/mcp"\n', 'web.example/mcp"\nenabled = false\n'));
  });

  test("sets a key in braces, with dotted keys, and below an empty header", async () => {
    const path = ["mcp", "stdio_servers", "a"];
    const inBraces = await read('[mcp.stdio_servers]\na = { command = "x" } # keep\n');
    expect((await inBraces.set(path, "enabled", false)).text).toBe(
      '[mcp.stdio_servers]\na = { command = "x", enabled = false } # keep\n',
    );
    const dotted = await read('[mcp]\nstdio_servers.a.command = "x"');
    expect((await dotted.set(path, "enabled", false)).text).toBe(
      '[mcp]\nstdio_servers.a.command = "x"\nstdio_servers.a.enabled = false\n',
    );
    const bare = await read("[scripts]\n\n[server]\nport = 1\n");
    expect((await bare.set(["scripts"], "tools_path", "t")).text).toBe(
      '[scripts]\ntools_path = "t"\n\n[server]\nport = 1\n',
    );
  });

  test("refuses to set a key of a missing table", async () => {
    await expect((await read(YARD)).set(["mcp", "stdio_servers", "no"], "enabled", false)).rejects.toThrow(ConfigError);
  });
});

describe("removing", () => {
  test("removes a table with its subtables and the comment directly above, and nothing else", async () => {
    const { text } = await (await read(YARD)).remove(["mcp", "stdio_servers", "memory"]);
    const start = YARD.indexOf("# Notes");
    expect(text).toBe(YARD.slice(0, start) + YARD.slice(YARD.indexOf("# The web")));
  });

  test("removes an entry of a list of tables", async () => {
    const first = await (await read(YARD)).remove(["mcp", "remote_servers", "0"]);
    expect(first.text).toBe(
      YARD.slice(0, YARD.indexOf("# The web")) + YARD.slice(YARD.indexOf("[[mcp.remote_servers]] # second")),
    );
    const second = await (await read(YARD)).remove(["mcp", "remote_servers", "1"]);
    expect(second.text).toBe(`${YARD.slice(0, YARD.indexOf("[[mcp.remote_servers]] # second"))}# The end.\n`);
  });

  test("removes a key of a table, an entry in brackets, a table in braces", async () => {
    const key = await (await read(YARD)).remove(["mcp", "remote_servers", "1", "url"]);
    expect(key.text).toBe(YARD.replace("url = 'https://docs.example'\n", ""));
    const list = await read('[modules]\npaths = ["a", "b", "c"]\n');
    expect((await list.remove(["modules", "paths", "1"])).text).toBe('[modules]\npaths = ["a", "c"]\n');
    expect((await list.remove(["modules", "paths", "2"])).text).toBe('[modules]\npaths = ["a", "b"]\n');
    const braces = await read('mcp = { stdio_servers = { a = { command = "x" }, b = { command = "y" } } }\n');
    expect((await braces.remove(["mcp", "stdio_servers", "a"])).text).toBe(
      'mcp = { stdio_servers = { b = { command = "y" } } }\n',
    );
  });

  test("keeps line breaks of Windows", async () => {
    const windows = await read(YARD.replaceAll("\n", "\r\n"));
    const { text } = await windows.set(["mcp", "stdio_servers", "memory"], "enabled", false);
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
  });
});

test("refuses a text that is not TOML, with the line", async () => {
  await expect(read("[server]\nport = = 1\n")).rejects.toThrow("yard.toml:2:");
});

test("for any text, a change has exactly the intended effect or is refused", async () => {
  const word = fc.string({
    minLength: 1,
    maxLength: 6,
    unit: fc.constantFrom("a", "b", ".", '"', "'", "#", "=", "]", " ", "ä"),
  });
  const table = fc.dictionary(word, fc.oneof(word, fc.integer({ min: 0, max: 9 }), fc.array(word, { maxLength: 3 })), {
    maxKeys: 3,
  });
  const servers = fc.dictionary(word, table, { minKeys: 1, maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(servers, fc.array(table, { maxLength: 3 }), fc.nat(), async (stdio, remote, pick) => {
      const tree = { mcp: { stdio_servers: stdio, ...(remote.length > 0 ? { remote_servers: remote } : {}) } };
      const document = await read(`# top\n${stringify(tree)}# end\n`);
      const alias = Object.keys(stdio)[pick % Object.keys(stdio).length]!;
      const path = ["mcp", "stdio_servers", alias];
      const set = await document.set(path, "enabled", false);
      expect(parse(set.text)).toEqual({
        mcp: { ...tree.mcp, stdio_servers: { ...stdio, [alias]: { ...stdio[alias], enabled: false } } },
      });
      expect(set.text).toContain("# end");
      const { [alias]: _gone, ...others } = stdio;
      const left = (parse((await document.remove(path)).text) as unknown as typeof tree).mcp;
      expect(left?.stdio_servers ?? {}).toEqual(others);
      expect(left?.remote_servers ?? []).toEqual(remote);
    }),
    { numRuns: 200 },
  );
});
