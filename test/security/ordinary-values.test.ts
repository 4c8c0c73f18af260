// Ordinary configured values are not secrets: lists of real servers reach clients byte for byte. A secret that a server
// repeats reaches no client, and changes no other server's list.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { openTarget, openUpstream, tool, type Target } from "./attack.ts";

const FOLDER = new URL("../fixtures/real-listings/", import.meta.url);
const SERVER = fileURLToPath(new URL("server.mjs", FOLDER));
const LISTINGS = readFileSync(new URL("listings.jsonl", FOLDER), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { readonly server: string; readonly tools: readonly JsonObject[] });

/** Values that occur in texts of the servers, with ordinary names and with names that suggest a secret. */
const ORDINARY = {
  AWS_PROFILE: "default",
  NODE_ENV: "production",
  DEFAULT_BROWSER: "chromium",
  BUTTON: "button",
  WORKSPACE: "repository",
  KUBE_CONTEXT: "namespace",
  UPPER: "Repository",
  GREETING: "Create a new branch",
  FOLDER: "/home/ada/projects",
  LIMIT: "100000",
  VERBOSE: "undefined",
  AUTH_MODE: "optional",
  TOKEN_TYPE: "string",
  KEY_STYLE: "number",
  SORT_KEY: "identifier",
  API_KEY_SOURCE: "container",
  PASSWORD_STORE: "memory",
  SECRET_NAME: "content",
};

function realServers(env: Readonly<Record<string, string>>): HubConfig {
  const stdio_servers = Object.fromEntries(
    LISTINGS.map(({ server }) => [server, { command: [process.execPath, SERVER, server], env }]),
  );
  return { mcp: { stdio_servers }, limits: { rate_per_minute: 0 } };
}

/** Returns all pages of a list as received. */
async function listed(target: Target, method: string, member: string): Promise<readonly JsonObject[]> {
  const client = await target.client();
  const items: JsonObject[] = [];
  for (let cursor: unknown; ;) {
    const { result } = (await client.request(method, cursor === undefined ? {} : { cursor })) as {
      result: JsonObject;
    };
    items.push(...(result[member] as JsonObject[]));
    cursor = result["nextCursor"];
    if (cursor === undefined) return items;
  }
}

test("lists the tools of 28 real servers byte for byte with ordinary configured values", async () => {
  expect(LISTINGS.length).toBeGreaterThanOrEqual(22);
  await using target = await openTarget(realServers(ORDINARY));
  await target.hub.list();
  const byName = new Map((await listed(target, "tools/list", "tools")).map((one) => [one["name"], one]));
  for (const { server, tools } of LISTINGS)
    for (const one of tools) {
      const { name, ...shown } = byName.get(`${server}__${String(one["name"])}`) ?? {};
      expect(JSON.stringify({ ...shown, name: one["name"] })).toBe(
        JSON.stringify({ description: one["description"], inputSchema: one["inputSchema"], name: one["name"] }),
      );
      expect(name).toBeDefined();
    }
  for (const [method, member] of [
    ["resources/list", "resources"],
    ["resources/templates/list", "resourceTemplates"],
    ["prompts/list", "prompts"],
  ] as const) {
    const descriptions = (await listed(target, method, member)).map((one) => one["description"]);
    for (const { tools } of LISTINGS) expect(descriptions).toContain(tools[0]!["description"]);
  }
  const client = await target.client();
  expect(JSON.stringify(client.opening)).not.toContain("***");
  const failed = await client.request("tools/call", { name: "time__get_current_time", arguments: { timezone: "UTC" } });
  expect(JSON.stringify(failed)).not.toContain("***");
});

describe("servers of the public registry", () => {
  const OFFICIAL = ["everything", "filesystem", "memory", "sequential-thinking"];
  const bin = (name: string): string =>
    fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
  const config = (env: Readonly<Record<string, string>>): HubConfig => ({
    mcp: {
      stdio_servers: Object.fromEntries(
        OFFICIAL.map((name) => [
          name,
          { command: [process.execPath, bin(name), ...(name === "filesystem" ? [process.cwd()] : [])], env },
        ]),
      ),
    },
  });

  test("lists the same definitions with ordinary configured values as without configured values", async () => {
    const [plain, configured] = await Promise.all([allLists(config({})), allLists(config(ORDINARY))]);
    expect(configured).toBe(plain);
    expect(configured).toContain("sequentialthinking");
  });

  async function allLists(settings: HubConfig): Promise<string> {
    await using target = await openTarget(settings);
    await target.hub.list();
    const client = await target.client();
    const lists = await Promise.all([
      listed(target, "tools/list", "tools"),
      listed(target, "resources/list", "resources"),
      listed(target, "prompts/list", "prompts"),
    ]);
    return JSON.stringify([lists, client.opening["instructions"]]);
  }
});

describe("a secret that one server repeats", () => {
  const SECRET = "kq7-Zw4pXf9tRb2nLm";
  const settings: HubConfig = {
    mcp: {
      stdio_servers: {
        careless: {
          command: [process.execPath, SERVER, "weather", "--repeat", "WEATHER_KEY"],
          env: { WEATHER_KEY: SECRET, ...ORDINARY },
        },
        other: {
          command: [process.execPath, SERVER, "time", "--repeat", "MOTTO"],
          // This server has the same text under a name that does not mark it as a secret.
          env: { MOTTO: "letmein" },
        },
        third: { command: [process.execPath, SERVER, "fetch"], env: { DB_PASSWORD: "letmein" } },
      },
    },
  };

  test("the secret appears in no definition of its server, and changes no definition of another server", async () => {
    await using target = await openTarget(settings);
    await target.hub.list();
    const client = await target.client();
    const answers = await Promise.all(
      ["tools/list", "resources/list", "resources/templates/list", "prompts/list"].map((method) =>
        client.request(method),
      ),
    );
    const shown = JSON.stringify([client.opening, answers]);
    expect(shown).not.toContain(SECRET);
    const weather = LISTINGS.find(({ server }) => server === "weather")!.tools[0]!["description"] as string;
    expect(shown).toContain(JSON.stringify(`${weather} ***`).slice(1, -1));
    // The password of the third server is a word in texts of the second one.
    const time = LISTINGS.find(({ server }) => server === "time")!.tools[0]!["description"] as string;
    expect(shown).toContain(JSON.stringify(`${time} letmein`).slice(1, -1));
  });

  test("the secret appears in no error, log line, status or listing file, for either server", async () => {
    await using target = await openTarget(settings);
    await target.hub.list();
    const client = await target.client();
    const own = await client.request("tools/call", { name: "third__fetch", arguments: { url: "x", text: "letmein" } });
    const tools = await listed(target, "tools/list", "tools");
    const careless = tools.find(({ name }) => String(name).startsWith("careless__"))!["name"];
    const failed = await client.request("tools/call", { name: careless, arguments: { text: `key=${SECRET}.` } });
    const status = await target.send({ method: "GET", path: "/status" });
    await expect.poll(() => target.log(), { timeout: 20_000 }).toContain("is not stored on disk");
    const texts = [
      JSON.stringify([own, failed, target.hub.sources()]),
      status.body,
      await target.log(),
      await target.audit(),
    ];
    for (const text of texts) expect(text).not.toContain(SECRET);
  });
});

test("removes a secret that a server repeats in schema data from that data and from its server info", async () => {
  const key = "tok-81xq-55zz-w3";
  await using upstream = await openUpstream({
    instructions: `Uses ${key}.`,
    tools: [
      tool("data", {
        inputSchema: {
          type: "object",
          properties: {
            a: { type: "string", default: key, description: `like ${key}` },
            b: { enum: ["default", key], examples: [{ description: key }] },
          },
        },
        _meta: { "example/key": key, kept: "default" },
      }),
    ],
    answer: () => undefined,
  });
  await using target = await openTarget({
    mcp: { remote_servers: [{ namespace: "up", url: upstream.url, token: key }] },
  });
  await target.hub.list();
  const client = await target.client();
  const [own] = (await listed(target, "tools/list", "tools")).filter(({ name }) => name === "up__data");
  expect(JSON.stringify([own, client.opening])).not.toContain(key);
  expect(own).toMatchObject({
    inputSchema: {
      properties: { a: { default: "***" }, b: { enum: ["default", "***"], examples: [{ description: "***" }] } },
    },
    _meta: { "example/key": "***", kept: "default" },
  });
});
