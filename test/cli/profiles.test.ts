// Profiles on the command line: a stdio client, alone and with a shared hub, and the entries that `connect` writes.
import { readFile } from "node:fs/promises";
import { parse as parseJsonc } from "jsonc-parser";
import { expect, test } from "vitest";
import { CLIENTS, clientFile } from "../../packages/toolyard/src/config/connect/clients.ts";
import { Desk, exitOf, textOf } from "./harness.ts";
import { LINGER, SharedClient } from "./shared-client.ts";
import { SERVER } from "./small-server.ts";

const TOML = `[mcp.stdio_servers.small]
command = ["node", "server.mjs"]
[mcp.stdio_servers.other]
command = ["node", "server.mjs"]
[profiles.few]
sources = ["small"]
tools = ["small::echo", "small::pid"]
[profiles.finder]
sources = ["other"]
tool_mode = "discovery"
`;
const FILES = { "server.mjs": SERVER, "toolyard.toml": TOML };

const initialize = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };

function lines(...messages: readonly object[]): string {
  return messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
}

const LISTING = lines(
  { id: 1, method: "initialize", params: initialize },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
  { id: 3, method: "tools/call", params: { name: "other__echo", arguments: { text: "x" } } },
);

test("serves a profile on stdio, and no tool outside it", async () => {
  await using desk = await Desk.create(FILES);
  const few = await desk.run(["serve", "--stdio", "--profile", "few"], { stdin: LISTING });
  expect(few.stdout).toContain('"small__echo"');
  expect(few.stdout).not.toContain('"small__cwd"');
  expect(few.stdout).toContain("No right to use the tool other__echo");
  const finder = await desk.run(["serve", "--stdio", "--profile", "finder"], { stdin: LISTING });
  expect(finder.stdout).toContain('"tool_search"');
  expect(finder.stdout).not.toContain('"other__echo"');
  const named = ["serve", "--stdio", "--profile", "finder", "--tool-mode", "normal"];
  expect((await desk.run(named, { stdin: LISTING })).stdout).toContain('"other__echo"');
});

test("gives clients of one shared hub different profiles, and the same server process", async () => {
  await using desk = await Desk.create(FILES);
  const few = await SharedClient.open(desk, { words: [...LINGER, "--profile", "few"] });
  const whole = await SharedClient.open(desk);
  expect((await few.tools()).filter((name) => name.includes("__"))).toEqual(["small__echo", "small__pid"]);
  expect(await whole.tools()).toContain("other__echo");
  expect(await few.call("small__pid")).toBe(await whole.call("small__pid"));
  expect(await few.call("other__pid")).toContain("No right");
  for (const client of [few, whole]) {
    client.child.stdin!.end();
    await exitOf(client.child);
  }
});

test("refuses an unknown profile, and names the nearest", async () => {
  await using desk = await Desk.create(FILES);
  for (const words of [
    ["serve", "--stdio"],
    ["serve", "--stdio", "--shared"],
    ["connect", "cursor", "--yes"],
  ]) {
    const { code, stderr } = await desk.run([...words, "--profile", "finders"]);
    expect([code, stderr], words.join(" ")).toEqual([
      2,
      expect.stringContaining("no profile `finders`. Did you mean finder?"),
    ]);
  }
  const http = await desk.run(["serve", "--profile", "few"]);
  expect([http.code, http.stderr]).toEqual([2, expect.stringContaining("at /mcp/few")]);
});

test("connect writes a client's profile, as a command and as an address", async () => {
  await using desk = await Desk.create(FILES);
  const cursor = CLIENTS.find(({ id }) => id === "cursor")!;
  const home = desk.path("home");
  const file = clientFile(cursor, { variables: { HOME: home }, cwd: desk.folder, platform: process.platform });
  const entry = async (): Promise<{ args?: string[]; url?: string }> =>
    (parseJsonc(await readFile(file, "utf8")) as { mcpServers: { toolyard: object } }).mcpServers.toolyard;
  expect((await desk.run(["connect", "cursor", "--yes", "--profile", "few"])).code).toBe(0);
  expect((await entry()).args).toEqual(expect.arrayContaining(["--profile", "few"]));
  const { command = "", args = [] } = (await entry()) as { command?: string; args?: string[] };
  const client = desk.startCommand([command, ...args, "--linger", "200ms"], { cwd: "/" });
  client.stdin!.end(LISTING);
  const listed = await textOf(client.stdout!);
  expect(listed).toContain('"small__echo"');
  expect(listed).not.toContain('"small__cwd"');
  expect((await desk.run(["connect", "cursor", "--yes", "--http", "--profile", "finder"])).code).toBe(0);
  expect((await entry()).url).toBe("http://127.0.0.1:8808/mcp/finder");
});
