// Secrets of the configuration and the environment: all text that leaves the hub is searched for every encoded form of
// them.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { runCommand } from "./command.ts";
import {
  JSON_HEADERS,
  initialize,
  openTarget,
  openUpstream,
  say,
  tool,
  wordsOf,
  type Offers,
  type Target,
} from "./attack.ts";
import { ToolFolder } from "../support/tool-folder.ts";

const SECRET = "s3cr3t/Key+of?the&hub=";
const USER = "ada";

/** Forms of the secret: plain, in JSON, in a URL, in base64 of either alphabet and at every offset, in hexadecimal. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [1, 2].map((count) =>
    Buffer.concat([Buffer.from("x".repeat(count)), bytes, Buffer.from("yz")])
      .toString("base64")
      .slice(4, -4),
  );
  const inBasic = Buffer.from(`${USER}:${secret}`).toString("base64");
  const url = encodeURIComponent(secret);
  return [
    secret,
    url,
    url.toLowerCase(),
    new URLSearchParams({ a: secret }).toString().slice(2),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    inBasic.slice(8, -8),
    bytes.toString("hex"),
    ...shifted,
  ];
}

function leaks(text: string, secret = SECRET): string[] {
  return formsOf(secret).filter((form) => text.includes(form));
}

/** Repeats the secret in every form that a careless server might use. */
function echo(secret: string): string {
  const basic = Buffer.from(`${USER}:${secret}`).toString("base64");
  return [
    `bad credentials ${secret}`,
    `GET /?k=${encodeURIComponent(secret)}`,
    `k=${new URLSearchParams({ k: secret })}`,
    Buffer.from(secret).toString("base64url"),
    `sent ${basic}.`,
    Buffer.from(secret).toString("hex"),
  ].join(" | ");
}

function careless(): Offers {
  return {
    instructions: `Log in with ${SECRET}`,
    tools: [
      tool("fail"),
      tool("refuse"),
      tool("talk", {
        description: `Uses the key ${SECRET}.`,
        inputSchema: { type: "object", properties: { a: { type: "string", description: `not ${SECRET}` } } },
      }),
    ],
    resources: [{ uri: "doc://a", name: "a", description: `with ${SECRET}` }],
    prompts: [{ name: "p", description: `with ${SECRET}` }],
    answer: (method, params): JsonObject | undefined => {
      if (method === "resources/read" || method === "prompts/get")
        return {
          error: { code: -32603, message: echo(SECRET), data: { header: `Bearer ${SECRET}`, deep: [{ key: SECRET }] } },
        };
      if (method !== "tools/call") return undefined;
      if (params["name"] === "fail") return { result: { ...say(echo(SECRET)), isError: true } };
      return { error: { code: -32000, message: echo(SECRET), data: { config: SECRET } } };
    },
  };
}

async function openCareless(): Promise<{ target: Target; close: () => Promise<void> }> {
  const upstream = await openUpstream(careless());
  const target = await openTarget(
    {
      mcp: { remote_servers: [{ namespace: "up", url: upstream.url, headers: { Authorization: "Bearer ${UP_KEY}" } }] },
    },
    { UP_KEY: SECRET },
  );
  await target.hub.list();
  const close = async (): Promise<void> => {
    await target[Symbol.asyncDispose]();
    await upstream.close();
  };
  return { target, close };
}

describe("S14: an upstream that repeats the hub's credentials", () => {
  test.each(["legacy", "modern"] as const)(
    "S14: %s callers receive its errors, lists and instructions without the credentials",
    async (era) => {
      const { target, close } = await openCareless();
      try {
        const client = await target.client(undefined, { era });
        const answers = [
          client.opening,
          await client.request("tools/call", { name: "up__fail", arguments: {} }),
          await client.request("tools/call", { name: "up__refuse", arguments: {} }),
          await client.request("tools/call", { name: "execute_tool", arguments: { name: "up__refuse" } }),
          await client.request("resources/read", { uri: "doc://a" }),
          await client.request("prompts/get", { name: "up__p" }),
          await client.request("tools/list"),
          await client.request("resources/list"),
          await client.request("prompts/list"),
          await client.request("tools/call", { name: "tool_search", arguments: { query: "key" } }),
        ];
        for (const answer of answers) expect(leaks(JSON.stringify(answer))).toEqual([]);
        expect(wordsOf(answers[1]!)).toContain("bad credentials ***");
      } finally {
        await close();
      }
    },
  );

  test("S14: neither log, audit, status nor stored lists contain the credentials", async () => {
    const { target, close } = await openCareless();
    try {
      const client = await target.client();
      for (const name of ["up__fail", "up__refuse", SECRET, `up__${SECRET}`])
        await client.request("tools/call", { name, arguments: {} });
      await expect.poll(() => target.log(), { timeout: 20_000 }).toContain("is not stored on disk");
      const status = await target.send({ method: "GET", path: "/status" });
      const lists = join(target.home, "data", "lists");
      const cached = await Promise.all(
        (await readdir(lists).catch(() => [])).map((name) => readFile(join(lists, name), "utf8")),
      );
      for (const text of [
        status.body,
        JSON.stringify(target.hub.sources()),
        await target.log(),
        await target.audit(),
        ...cached,
      ])
        expect(leaks(text)).toEqual([]);
    } finally {
      await close();
    }
  });

  test("S14: passes on the rest of the tool's answer unchanged", async () => {
    await using upstream = await openUpstream({
      tools: [tool("ok")],
      answer: (method) => (method === "tools/call" ? { result: say("a word about production keys") } : undefined),
    });
    await using target = await openTarget({
      mcp: { remote_servers: [{ namespace: "up", url: upstream.url, token: "production-key" }] },
    });
    const client = await target.client();
    expect(wordsOf(await client.request("tools/call", { name: "up__ok", arguments: {} }))).toBe(
      "a word about production keys",
    );
  });
});

test("S14: the key that a dying server writes to stderr appears nowhere", async () => {
  const script = "process.stderr.write('cannot log in with ' + process.env.API_KEY + '\\n', () => process.exit(3))";
  await using target = await openTarget(
    { mcp: { stdio_servers: { dying: { command: [process.execPath, "-e", script], env: { API_KEY: "${KEY}" } } } } },
    { KEY: SECRET },
  );
  await target.hub.list();
  const outcome = await target.hub.call("dying__x");
  const texts = [
    JSON.stringify(outcome),
    JSON.stringify(target.hub.sources()),
    (await target.send({ method: "GET", path: "/status" })).body,
    await target.log(),
  ];
  for (const text of texts) expect(leaks(text)).toEqual([]);
  expect(texts[1]).toContain("cannot log in with ***");
});

describe("S14: secrets in output for users", () => {
  const CONFIG = `
[server]
token = "${SECRET}"
[mcp.stdio_servers.shell]
command = ["node", "server.js", "--token", "\${KEY_TOKEN}"]
env = { API_KEY = "${SECRET}" }
enabled = true
[[mcp.remote_servers]]
namespace = "query"
url = "https://example.invalid/mcp?api_key=\${KEY_TOKEN}"
[[mcp.remote_servers]]
namespace = "literal"
url = "https://example.invalid/mcp?access_token=abcdef0123456789"
headers = { Authorization = "Basic ${Buffer.from(`${USER}:${SECRET}`).toString("base64")}" }
`;

  test.each([["config"], ["config", "--json"], ["check", "--timeout", "1s"], ["check", "--json", "--timeout", "1s"]])(
    "S14: the output of `%s` contains no secret",
    async (...args) => {
      using folder = new ToolFolder();
      const config = folder.write("toolyard.toml", CONFIG);
      const { stdout, stderr } = await runCommand([...args, "--config", config], {
        TOOLYARD_HOME: folder.path,
        KEY_TOKEN: SECRET,
        PATH: process.env["PATH"] ?? "",
      });
      expect(stdout.length).toBeGreaterThan(10);
      expect(leaks(stdout + stderr)).toEqual([]);
      expect(stdout + stderr).not.toContain("abcdef0123456789");
    },
  );

  test.each([
    ["a number where the token's text should be", "[server]\ntoken = 83920174655\n", "83920174655"],
    ["a token in a list", '[server]\ntoken = ["hush-hush-hush"]\n', "hush-hush-hush"],
    ["a line that is no TOML", '[server]\ntoken = "hush-hush-hush\nport = 1\n', "hush-hush-hush"],
    ["a token with a space in it", '[server]\ntoken = "hush hush-hush"\n', "hush-hush"],
    [
      "an upstream header of the wrong kind",
      '[[mcp.remote_servers]]\nurl = "http://x.invalid"\nheaders = { k = 83920174655 }\n',
      "83920174655",
    ],
    [
      "a URL with a password",
      '[[mcp.remote_servers]]\nurl = "http://me:hush-hush-hush@x.invalid/"\n',
      "hush-hush-hush",
    ],
  ])("S14: refuses %s without printing it", async (_, text, secret) => {
    using folder = new ToolFolder();
    const config = folder.write("toolyard.toml", text);
    const { code, stdout, stderr } = await runCommand(["serve", "--port", "0", "--config", config], {
      TOOLYARD_HOME: folder.path,
      PATH: process.env["PATH"] ?? "",
    });
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain(secret);
    expect(stderr).not.toBe("");
  });

  test("S14: a tool.toml that cannot be parsed does not reveal its environment", async () => {
    using folder = new ToolFolder();
    folder.write("broken/tool.toml", 'name = "broken"\n[env]\nKEY = "hush-hush-hush\n');
    await using target = await openTarget({ scripts: { tools_path: folder.path } });
    await target.hub.list();
    const report = JSON.stringify(target.hub.sources());
    expect(report).toContain("broken/tool.toml");
    expect(report + (await target.log())).not.toContain("hush-hush");
  });
});

test("S2: does not repeat a wrong token, accepts the right one, and serves /healthz without one", async () => {
  await using target = await openTarget({ server: { token: SECRET.replaceAll(/[^\w]/g, "") } });
  const wrong = await target.send({
    headers: { ...JSON_HEADERS, authorization: "Bearer guessed-token-1" },
    body: initialize(),
  });
  expect(wrong.status).toBe(401);
  expect(wrong.headers["www-authenticate"]).toMatch(/^Bearer /);
  expect(wrong.body + JSON.stringify(wrong.headers)).not.toContain("guessed");
  const right = await target.send({
    headers: { ...JSON_HEADERS, authorization: `Bearer ${SECRET.replaceAll(/[^\w]/g, "")}` },
    body: initialize(),
  });
  expect(right.status).toBe(200);
  const health = await target.send({ method: "GET", path: "/healthz" });
  expect(health).toMatchObject({ status: 200, body: '{"status":"ok"}' });
});
