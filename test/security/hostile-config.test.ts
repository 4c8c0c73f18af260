// A hostile or careless configuration: values that look like another type or meaning.
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { createHub } from "../../packages/toolyard/src/index.ts";
import { ToolFolder } from "../support/tool-folder.ts";
import { runCommand } from "./command.ts";

async function check(file: string, text: string): Promise<{ code: number; said: string }> {
  using folder = new ToolFolder();
  const config = folder.write(file, text);
  const { code, stdout, stderr } = await runCommand(["config", "--json", "--config", config], {
    TOOLYARD_HOME: folder.path,
  });
  return { code, said: stdout + stderr };
}

describe("S1: values of the configuration have no second meaning", () => {
  const refused: [string, string, string][] = [
    ["toolyard.toml", "a key that would be inherited", "[server.__proto__]\ninsecure = true\n"],
    ["toolyard.toml", "a quoted one", '[server]\n"__proto__" = { insecure = true }\n'],
    ["toolyard.json", "the same in JSON", '{"server": {"__proto__": {"insecure": true}}}'],
    ["toolyard.json", "at the top", '{"__proto__": {"server": {"insecure": true}}, "server": {}}'],
    ["toolyard.json", "the constructor", '{"constructor": {"prototype": {"insecure": true}}}'],
    ["toolyard.toml", "a server of that name", '[mcp.stdio_servers.__proto__]\ncommand = "node"\n'],
    ["toolyard.toml", "a token of that name", '[server.tokens.__proto__]\ntoken = "long-enough-token"\n'],
    ["servers.json", "a server of that name in a client's file", '{"mcpServers": {"__proto__": {"command": "node"}}}'],
  ];

  test.each(refused)("S1: refuses %s: %s", async (file, _, text) => {
    const { code, said } = await check(file, text);
    expect(code, said).toBe(2);
    expect(said).toMatch(/__proto__|constructor/);
    expect(({} as JsonObject)["insecure"]).toBeUndefined();
    expect(({} as JsonObject)["command"]).toBeUndefined();
  });

  test("S1: accepts plain values", async () => {
    const { code, said } = await check("toolyard.toml", "[server]\ninsecure = true\n");
    expect(code).toBe(0);
    expect(said).toContain('"server.insecure"');
  });

  test.each(["0.0.0.0", "[::]", "0", "::ffff:0.0.0.0", "127.0.0.1.nip.io", "localhost.", "127.1", "2130706433"])(
    "S1: does not accept host %s as loopback",
    async (host) => {
      const hub = await createHub({ settings: { server: { host, port: 0 } }, variables: {} });
      try {
        await expect(hub.serve()).rejects.toThrow(/without a token/);
      } finally {
        await hub.close();
      }
    },
  );
});

test("S10: refuses values that would change a request to a server", async () => {
  const servers: JsonObject[] = [
    { url: "http://a.invalid/", headers: { "x-a": "1\r\nx-b: 2" } },
    { url: "http://a.invalid/", headers: { "x-a\r\nx-b": "2" } },
    { url: "http://a.invalid/", token: "t\nx: y" },
    { url: "http://a.invalid/", headers: { Host: "b.invalid" } },
    { url: "http://a.invalid/", headers: { "Content-Length": "5" } },
    { url: "http://a.invalid/", headers: { "Transfer-Encoding": "chunked" } },
    { host: "a.invalid/mcp?x=", port: 80 },
    { host: "user:pass@a.invalid" },
  ];
  for (const server of servers) {
    await expect(
      createHub({ settings: { mcp: { remote_servers: [{ namespace: "x", ...server }] } }, variables: {} }),
      JSON.stringify(server),
    ).rejects.toThrow();
  }
});
