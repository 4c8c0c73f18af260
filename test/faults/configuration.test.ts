// Faults of a configuration, and its changes while the hub runs, with the program started as a user would.
import { spawnSync } from "node:child_process";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { HttpWire } from "../fixtures/raw/http-wire.ts";
import { RawClient } from "../fixtures/raw/raw-client.ts";
import { isAlive } from "../fixtures/upstreams/harness.ts";
import { CLI, ServeChild } from "../support/serve-child.ts";
import { legacyServer } from "./fault-hub.ts";

const LIST_CHANGED = "notifications/tools/list_changed";

async function connect(served: ServeChild): Promise<RawClient> {
  const client = await RawClient.open(new HttpWire(served.url, "legacy"), { era: "legacy" });
  onTestFinished(() => client.close());
  return client;
}

async function textOf(client: RawClient, name: string): Promise<string> {
  const { content, isError } = (await client.tool(name)) as { content: { text: string }[]; isError?: boolean };
  expect(isError, content[0]?.text).toBeFalsy();
  return content[0]!.text;
}

const namesOf = async (client: RawClient): Promise<string[]> =>
  (await client.list("tools/list", "tools")).map(({ name }) => String(name));

const servers = (entries: Record<string, readonly string[]>): HubConfig => ({
  mcp: {
    stdio_servers: Object.fromEntries(
      Object.entries(entries).map(([name, faults]) => [name, { command: legacyServer(...faults) }]),
    ),
  },
});

test.each([
  ["a misspelt key", '[mcp.stdio_servers.files]\ncomand = ["x"]\n', ["mcp.stdio_servers.files.comand", "command"]],
  ["a misspelt section", '[script]\ntools_path = "tools"\n', ["script", "scripts"]],
  ["a misspelt value", '[logging]\nlevel = "warnin"\n', ["logging.level", "warning"]],
  ["a value of the wrong type", '[server]\nmax_connections = "many"\n', ["server.max_connections", "many"]],
  [
    "a duplicate alias",
    '[mcp.stdio_servers.files]\ncommand = ["x"]\n[[mcp.remote_servers]]\nalias = "files"\n' +
      'url = "http://127.0.0.1:1/mcp"\n',
    ["files", "rename"],
  ],
  [
    "a table that stands twice",
    '[mcp.stdio_servers.files]\ncommand = ["x"]\n[mcp.stdio_servers.files]\ncommand = ["y"]\n',
    ["toolyard.toml:3:"],
  ],
  ["no TOML", "[server\nport = 1\n", ["toolyard.toml:1:"]],
  ["a duration without a unit that exists", '[limits]\ncall_timeout = "5 parsecs"\n', ["call_timeout", "parsecs"]],
])("a configuration with %s ends with code 2 and reports place and remedy", async (_what, config, words) => {
  await using served = await ServeChild.spawn({ config });
  expect(await served.exited).toEqual({ code: 2, signal: null });
  // With `--json`, standard error contains only the error.
  const { error } = JSON.parse(served.stderr) as { error: { kind: string; message: string } };
  expect(error.kind).toBe("invalid_params");
  for (const word of words) expect(error.message).toContain(word);
  expect(error.message.split("\n").length).toBeLessThan(10);
});

test("a missing configuration file ends with code 2 and is named", () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [CLI, "serve", "--config", "/nowhere/toolyard.toml"], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("/nowhere/toolyard.toml");
});

test("a busy port ends with code 2 and names the port and the remedy", async () => {
  const busy = createServer();
  await new Promise<void>((resolve) => void busy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void busy.close());
  const { port } = busy.address() as AddressInfo;
  await using served = await ServeChild.spawn({ config: servers({ good: [] }), args: ["--port", String(port)] });
  expect(await served.exited).toEqual({ code: 2, signal: null });
  expect(served.stderr).toContain(String(port));
  expect(served.stderr).toMatch(/--port|another port/);
});

test("omits and names servers with an unset variable or a missing command, and serves the others", async () => {
  const config = {
    mcp: {
      stdio_servers: {
        unset: { command: legacyServer(), env: { KEY: "${NOT_SET_ANYWHERE}" } },
        missing: { command: ["no-such-program-here"] },
        good: { command: legacyServer() },
      },
    },
  };
  await using served = await ServeChild.start({ config });
  const client = await connect(served);
  expect(await textOf(client, "good__pid")).toMatch(/^\d+$/);
  for (const [name, words] of [
    ["unset__pid", "unset is omitted"],
    ["missing__pid", "source missing"],
  ] as const) {
    expect(await client.tool(name)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(words) }],
      _meta: { "toolyard/kind": "unavailable" },
    });
  }
  expect((await served.log.warningOf("unset")).message).toContain("NOT_SET_ANYWHERE");
  const missing = await served.log.warningOf("missing");
  expect(missing.message).toContain("no-such-program-here");
});

test("a valid edit adds, removes and restarts changed sources with a report; others keep running", async () => {
  await using served = await ServeChild.start({ config: servers({ kept: [], changed: [], removed: [] }) });
  const client = await connect(served);
  const before = {
    kept: await textOf(client, "kept__pid"),
    changed: await textOf(client, "changed__pid"),
    removed: await textOf(client, "removed__pid"),
  };
  await namesOf(client);
  const holding = client.tool("kept__hold");
  const announced = client.next(LIST_CHANGED);
  await served.writeConfig(servers({ kept: [], changed: ["resources"], added: [] }));
  const line = await served.log.until(({ message }) => message === "The configuration was applied.");
  expect(line.facts).toMatchObject({ added: ["added"], changed: ["changed"], removed: ["removed"] });
  await announced;
  expect(await textOf(client, "kept__pid")).toBe(before.kept);
  expect(await textOf(client, "added__pid")).toMatch(/^\d+$/);
  const changed = await textOf(client, "changed__pid");
  expect(changed).not.toBe(before.changed);
  const names = await namesOf(client);
  expect([names.includes("added__pid"), names.includes("removed__pid")]).toEqual([true, false]);
  expect([before.changed, before.removed].map((pid) => isAlive(Number(pid)))).toEqual([false, false]);
  expect((await client.request("tools/call", { name: "removed__pid", arguments: {} }))["error"]).toMatchObject({
    code: -32602,
  });
  await textOf(client, "kept__finish");
  expect(await holding).toMatchObject({ content: [{ text: "held to the end" }] });
});

test("a bad edit changes nothing and is reported; the next good edit is applied", async () => {
  await using served = await ServeChild.start({ config: servers({ kept: [] }) });
  const client = await connect(served);
  const pid = await textOf(client, "kept__pid");
  await namesOf(client);
  for (const bad of [
    '[mcp.stdio_servers.kept]\ncomand = ["x"]\n',
    "[mcp.stdio_servers.kept\n",
    '[limits]\ncall_timeout = "5 parsecs"\n',
  ]) {
    const from = served.log.lines.length;
    await served.writeConfig(bad);
    const line = await served.log.until(({ level }) => level === "error", from);
    expect(line.message).toContain("the previous one stays in force");
    expect(String(line.facts["reason"])).toMatch(/toolyard\.toml|call_timeout/);
    expect(await textOf(client, "kept__pid")).toBe(pid);
  }
  const from = served.log.lines.length;
  await served.writeConfig(servers({ kept: [], added: [] }));
  await served.log.until(({ message }) => message === "The configuration was applied.", from);
  expect(await textOf(client, "kept__pid")).toBe(pid);
  expect(await namesOf(client)).toContain("added__pid");
});

test("applies a changed [server] at its address; if it cannot be served, the endpoint stays unchanged", async () => {
  await using served = await ServeChild.start({ config: servers({ kept: [] }) });
  // Each request uses a new connection, because a kept connection may belong to the old endpoint, which is closing.
  const headers = (token?: string) => ({
    connection: "close",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });
  const status = (token?: string) =>
    new Promise<number>((done, failed) => {
      get(new URL("/status", served.url), { headers: headers(token), agent: false }, (response) =>
        done(response.resume().statusCode ?? 0),
      ).on("error", failed);
    });
  expect(await status()).toBe(200);
  let from = served.log.lines.length;
  await served.writeConfig({ ...servers({ kept: [] }), server: { token: "first-token" } });
  await served.log.until(({ message }) => message === "The endpoint was reopened.", from);
  expect([await status(), await status("first-token")]).toEqual([401, 200]);
  from = served.log.lines.length;
  await served.writeConfig({ ...servers({ kept: [] }), server: { token: "first-token", base_path: "no slash" } });
  expect((await served.log.until(({ level }) => level === "error", from)).message).toContain(
    "the endpoint stays unchanged",
  );
  expect([await status(), await status("first-token")]).toEqual([401, 200]);
});

test("keeps the endpoint if the metrics of a changed configuration cannot be served", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => taken.once("listening", done));
  onTestFinished(() => void taken.close());
  const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
  const config = (prometheus: object, server: HubConfig["server"] = {}): HubConfig =>
    ({ ...servers({ kept: [] }), server, telemetry: { prometheus } }) as HubConfig;
  await using served = await ServeChild.start({ config: servers({ kept: [] }) });
  const statusOf = async (url: string | URL, token = "none"): Promise<number> => {
    const headers = { connection: "close", authorization: `Bearer ${token}` };
    return (await fetch(url, { headers })).status;
  };
  const status = new URL("/status", served.url);
  for (const [prometheus, reason] of [
    [{ main_port: true }, "main_port"],
    [{ listen }, listen.slice(listen.indexOf(":") + 1)],
  ] as const) {
    const from = served.log.lines.length;
    await served.writeConfig(config(prometheus));
    const line = await served.log.until(({ level }) => level === "error", from);
    expect([line.message, String(line.facts["reason"])]).toEqual([
      expect.stringContaining("the endpoint stays unchanged"),
      expect.stringContaining(reason),
    ]);
    expect(await statusOf(status)).toBe(200);
  }
  await new Promise((done) => taken.close(done));
  for (const token of ["first-token", "second-token"]) {
    const from = served.log.lines.length;
    await served.writeConfig(config({ listen, token, main_port: true }, { token }));
    await served.log.until(({ message }) => message === "The endpoint was reopened.", from);
    expect(served.log.lines.slice(from).map(({ message }) => message)).not.toContainEqual(
      expect.stringContaining("take effect when the hub is restarted"),
    );
    const metrics = [`http://${listen}/metrics`, new URL("/metrics", served.url)];
    expect(await Promise.all(metrics.map((url) => statusOf(url, token)))).toEqual([200, 200]);
    expect(await Promise.all(metrics.map((url) => statusOf(url)))).toEqual([401, 401]);
    if (token === "second-token") expect(await statusOf(metrics[0]!, "first-token")).toBe(401);
  }
});
