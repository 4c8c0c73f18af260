import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "../core/errors.ts";
import { Type } from "../core/options/option-schema.ts";
import { remoteName } from "../providers/http/remote-name.ts";
import { describeConfig, MASK } from "./describe.ts";
import { publishedSchema } from "./json-schema.ts";
import { loadConfig, type LoadOptions } from "./load.ts";

const schema = Type.Object({
  server: Type.Optional(
    Type.Object({
      host: Type.Optional(Type.String({ default: "127.0.0.1", description: "Where to listen." })),
      port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535, default: 8808 })),
      token: Type.Optional(Type.Secret()),
      tool_mode: Type.Optional(Type.Enum(["normal", "discovery"])),
    }),
  ),
  scripts: Type.Optional(
    Type.Table(Type.Object({ tools_path: Type.Optional(Type.Union([Type.Path(), Type.Array(Type.Path())])) }), {
      formerly: "scriptling",
    }),
  ),
  mcp: Type.Optional(
    Type.Object({
      stdio_servers: Type.Optional(
        Type.Sources(
          Type.Record(
            Type.Object({
              command: Type.Union([Type.String(), Type.Array(Type.String())]),
              args: Type.Optional(Type.Array(Type.String())),
              cwd: Type.Optional(Type.Path()),
              env: Type.Optional(Type.Record(Type.Secret())),
              enabled: Type.Optional(Type.Boolean()),
              timeout: Type.Optional(Type.Number()),
            }),
          ),
          { kind: "stdio", identity: ["command"], base: { cwd: "." } },
        ),
      ),
      remote_servers: Type.Optional(
        Type.Sources(
          Type.Array(
            Type.Object({
              namespace: Type.String(),
              url: Type.String(),
              token: Type.Optional(Type.Secret()),
              headers: Type.Optional(Type.Record(Type.Secret())),
              enabled: Type.Optional(Type.Boolean()),
              timeout: Type.Optional(Type.Number()),
              transport: Type.Optional(Type.String()),
            }),
          ),
          { kind: "http", nameOf: remoteName, identity: ["namespace", "url"] },
        ),
      ),
    }),
  ),
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-config-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

function load(options: Partial<LoadOptions>) {
  return loadConfig({ files: [], variables: {}, schema, ...options });
}

async function problemsOf(loading: Promise<unknown>): Promise<readonly string[]> {
  const error = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems;
}

describe("layers", () => {
  test("a flag overrides a variable, a variable a file, a later file an earlier one", async () => {
    const first = await file(
      "a.toml",
      '[server]\nhost = "first"\nport = 1\ntool_mode = "normal"\n[scripts]\ntools_path = "tools"',
    );
    const second = await file("b.toml", '[server]\nhost = "second"\nport = 2');
    const { tree, origins } = await load({
      files: [first, second],
      variables: { TOOLYARD_SERVER_PORT: "3" },
      flags: { server: { host: "flag" } },
    });
    expect(tree).toEqual({
      server: { host: "flag", port: 3, tool_mode: "normal" },
      scripts: { tools_path: join(folder, "tools") },
    });
    expect(origins.get("server.port")).toBe("env TOOLYARD_SERVER_PORT");
    expect(origins.get("server.host")).toBe("flag");
    expect(origins.get("server.tool_mode")).toBe(first);
  });

  test("`withoutFlags` returns the configuration without flags, and throws if that is invalid", async () => {
    const path = await file("a.toml", '[server]\nhost = "file"\nport = 70000');
    const flags = { server: { host: "flag", port: 1 } };
    const { tree, withoutFlags } = await load({ files: [path], flags });
    expect(tree.server).toMatchObject({ host: "flag", port: 1 });
    expect(withoutFlags).toThrow(ConfigError);
    const loaded = await load({ files: [path], variables: { TOOLYARD_SERVER_PORT: "3" }, flags });
    expect(loaded.withoutFlags().server).toMatchObject({ host: "file", port: 3 });
  });

  test("warns about a variable that names no option, and suggests the nearest one", async () => {
    const { warnings } = await load({ variables: { TOOLYARD_SERVER_PROT: "3" } });
    expect(warnings).toEqual([
      "the variable TOOLYARD_SERVER_PROT is not an option; did you mean TOOLYARD_SERVER_PORT?",
    ]);
  });

  test.each([
    "TOOLYARD_HOME",
    "TOOLYARD_CONFIG",
    "TOOLYARD_TOKEN",
    "TOOLYARD_URL",
    "TOOLYARD_VAULT_KEY",
    "TOOLYARD_EXTRAS",
    "TOOLYARD_DEBUG",
    "TOOLYARD_CHILD_ID",
    "TOOLYARD_DESCRIPTORS",
    "TOOLYARD_LIBRARIES",
    "TOOLYARD_MODELS",
  ])("the variable %s of the program causes no warning", async (name) => {
    expect((await load({ variables: { [name]: "x" } })).warnings).toEqual([]);
  });

  test("`config` shows every option with its origin, including defaults, with secrets masked", async () => {
    const path = await file(
      "a.toml",
      '[server]\ntoken = "s3cret-value"\n[[mcp.remote_servers]]\nnamespace = "r"\nurl = "http://x"\n' +
        'headers = { A = "hidden" }',
    );
    const lines = describeConfig(await load({ files: [path] }), schema);
    expect(lines).toContainEqual({
      path: "server.host",
      value: "127.0.0.1",
      origin: "default",
      description: "Where to listen.",
    });
    expect(lines).toContainEqual({ path: "server.token", value: MASK, origin: path });
    expect(JSON.stringify(lines)).not.toMatch(/s3cret-value|hidden/);
  });
});

describe("an error", () => {
  test("refuses a misspelled key with a suggestion and its file", async () => {
    const path = await file("a.toml", "[server]\nprot = 1");
    expect(await problemsOf(load({ files: [path] }))).toEqual([
      `server.prot: unknown key; did you mean \`port\`? (${path})`,
    ]);
  });

  test("reports all errors together, each with the received value", async () => {
    const path = await file("a.toml", '[server]\nport = 70000\ntool_mode = "discover"\nhost = 5');
    expect(await problemsOf(load({ files: [path] }))).toEqual([
      `server.port: must be at most 65535, got 70000 (${path})`,
      `server.tool_mode: must be one of "normal", "discovery", got "discover"; did you mean "discovery"? (${path})`,
      `server.host: must be a string, got 5 (${path})`,
    ]);
  });

  test("reports invalid TOML with the file and the line", async () => {
    const path = await file("a.toml", "[server\nport = 1");
    const [problem] = await problemsOf(load({ files: [path] }));
    expect(problem).toContain("a.toml");
    expect(problem).toMatch(/1:/);
  });

  test("the error for a missing file explains how to create one", async () => {
    const [problem] = await problemsOf(load({ files: [join(folder, "no.toml")] }));
    expect(problem).toContain("there is no such file");
    expect(problem).toContain("toolyard init");
  });

  test("refuses one name for two servers", async () => {
    const path = await file(
      "a.toml",
      '[mcp.stdio_servers.x]\ncommand = "x"\n[[mcp.remote_servers]]\nnamespace = "x"\nurl = "http://x"',
    );
    const [problem] = await problemsOf(load({ files: [path] }));
    expect(problem).toContain('the name "x" is used by another server');
  });

  test("refuses a duplicate key in JSON with its line", async () => {
    const path = await file("mcp.json", '{"mcpServers": {\n"a": {"command": "x"},\n"a": {"command": "y"}}}');
    const [problem] = await problemsOf(load({ files: [path] }));
    expect(problem).toContain('mcp.json:3: the key "a" occurs twice');
  });
});

describe("references", () => {
  test("resolves variables, defaults and files; keeps a literal; records secrets", async () => {
    await file("token.txt", "from-file\n");
    const path = await file(
      "a.toml",
      '[server]\nport = "${PORT}"\nhost = "${NOPE:-localhost}"\ntoken = {file = "token.txt"}\n' +
        '[mcp.stdio_servers.s]\ncommand = "run"\nenv = {KEY = "${env:KEY}", RAW = "$${KEY}"}',
    );
    const { tree, secrets } = await load({ files: [path], variables: { PORT: "99", KEY: "k-secret" } });
    expect(tree["server"]).toEqual({ port: 99, host: "localhost", token: "from-file" });
    expect(tree["mcp"]).toEqual({
      stdio_servers: { s: { command: "run", cwd: folder, env: { KEY: "k-secret", RAW: "${KEY}" } } },
    });
    expect(secrets).toEqual(expect.arrayContaining(["from-file", "k-secret"]));
  });

  test("an unset variable disables only its own server, and the problem names the variable", async () => {
    const path = await file(
      "a.toml",
      '[mcp.stdio_servers.good]\ncommand = "run"\n[mcp.stdio_servers.bad]\ncommand = "run"\n' +
        'env = {KEY = "${MISSING_KEY}"}\n[[mcp.remote_servers]]\nnamespace = "r"\nurl = "http://x"\n' +
        'token = "${NO_TOKEN}"',
    );
    const { tree, unusable } = await load({ files: [path] });
    expect(Object.keys((tree["mcp"] as { stdio_servers: object }).stdio_servers)).toEqual(["good"]);
    expect(unusable.map(({ id, reason }) => [id, reason.match(/MISSING_KEY|NO_TOKEN/)?.[0]])).toEqual([
      ["bad", "MISSING_KEY"],
      ["r", "NO_TOKEN"],
    ]);
  });

  test("reports an unset variable outside a server as an error", async () => {
    const path = await file("a.toml", '[server]\nhost = "${NOPE}"');
    expect((await problemsOf(load({ files: [path] })))[0]).toContain("the variable NOPE is not set");
  });

  test("for `${input:…}`, names the variable to set instead", async () => {
    const path = await file("mcp.json", '{"servers": {"a": {"command": "x", "env": {"K": "${input:api-key}"}}}}');
    const { unusable } = await load({ files: [path] });
    expect(unusable[0]?.reason).toContain("set the variable API_KEY and write `${env:API_KEY}`");
  });
});

describe("server files of other programs", () => {
  test("accepts an `mcpServers` file unchanged, with one warning line for unknown keys", async () => {
    const path = await file(
      "mcp.json",
      '{\n// comment\n"mcpServers": {"fs": {"command": "npx", "args": ["-y", "x"], "timeout": 30, ' +
        '"autoApprove": [], "alwaysAllow": []}, "off": {"command": "y", "disabled": true}, "web": {"type": ' +
        '"sse", "url": "https://example.com/sse", "headers": {"A": "${TOK:-t}"}}}}',
    );
    const { tree, warnings } = await load({ files: [path] });
    expect(tree["mcp"]).toEqual({
      stdio_servers: {
        fs: { command: "npx", args: ["-y", "x"], cwd: folder, timeout: 30_000 },
        off: { command: "y", enabled: false },
      },
      remote_servers: [{ namespace: "web", url: "https://example.com/sse", transport: "sse", headers: { A: "t" } }],
    });
    expect(warnings).toEqual([`${path.slice(0)}: server "fs": ignored \`autoApprove\`, \`alwaysAllow\``]);
  });

  test("skips a server with neither command nor URL, with a warning", async () => {
    const path = await file("mcp.json", '{"mcpServers": {"x": {"type": "stdio"}}}');
    const { tree, warnings } = await load({ files: [path] });
    expect(tree["mcp"]).toEqual({ stdio_servers: {}, remote_servers: [] });
    expect(warnings[0]).toContain("neither `command` nor `url`");
  });

  test("T11: reads `[scriptling]` as `[scripts]`", async () => {
    const path = await file("a.toml", '[scriptling]\ntools_path = "./tools"');
    expect((await load({ files: [path] })).tree["scripts"]).toEqual({ tools_path: join(folder, "tools") });
  });
});

test("records the secrets of arguments that follow their options", async () => {
  const text = '[mcp.stdio_servers.a]\ncommand = ["x", "--api-key", "hunter2hunter2", "--port", "8080"]\n';
  const { secrets } = await load({ files: [await file("arguments.toml", text)] });
  expect(secrets).toContain("hunter2hunter2");
  expect(secrets).not.toContain("8080");
});

test("the published schema accepts secrets as files and numbers as variables", () => {
  const published = publishedSchema(schema) as {
    properties: { server: { properties: Record<string, { anyOf?: object[] }> } };
  };
  expect(published.properties.server.properties["port"]!.anyOf).toHaveLength(2);
  expect(published.properties.server.properties["token"]!.anyOf).toHaveLength(2);
  expect(JSON.stringify(published)).not.toContain("writeOnly");
});
