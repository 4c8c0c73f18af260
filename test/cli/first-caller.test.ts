// A server of both eras behind `serve --stdio`: its only process uses the era of the client.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { PipeWire } from "../fixtures/raw/pipe-wire.ts";
import { RawClient, type RawClientOptions } from "../fixtures/raw/raw-client.ts";
import { fixture } from "../fixtures/upstreams/harness.ts";
import { Desk, MAIN } from "./harness.ts";

const CONFIG = (record: string) => `
[mcp.stdio_servers.dual]
command = [${[process.execPath, fixture("dual"), `record=${record}`].map((word) => JSON.stringify(word)).join(", ")}]
namespace = ""
`;

async function open(desk: Desk, options: RawClientOptions): Promise<RawClient> {
  const config = await desk.write("toolyard.toml", CONFIG(desk.path("pids")));
  const command = [process.execPath, MAIN, "serve", "--stdio", "--no-watch", "--config", config];
  return RawClient.open(new PipeWire({ command, env: { ...process.env, TOOLYARD_HOME: desk.path("data") } }), options);
}

const textOf = (result: JsonObject): unknown => (result["content"] as JsonObject[])[0]?.["text"];
const pidsIn = async (desk: Desk): Promise<string[]> => (await readFile(desk.path("pids"), "utf8")).trim().split("\n");
const answer = () => ({ action: "accept", content: {} });

test("a legacy client receives server requests from the only process", async () => {
  await using desk = await Desk.create();
  await using client = await open(desk, { era: "legacy", answer });
  expect(JSON.parse(String(textOf(await client.tool("ask"))))).toMatchObject({ action: "accept" });
  expect(textOf(await client.tool("era"))).toBe("legacy");
  expect(client.asked.map(({ method }) => method)).toEqual(["elicitation/create"]);
  expect(await pidsIn(desk)).toHaveLength(1);
});

test("a modern client uses the modern era, and a tool that requires a server request fails", async () => {
  await using desk = await Desk.create();
  await using client = await open(desk, { era: "modern", answer });
  expect(textOf(await client.tool("era"))).toBe("modern");
  expect(objectMember(await client.request("tools/call", { name: "ask", arguments: {} }), "result")).toMatchObject({
    isError: true,
  });
  expect(await pidsIn(desk)).toHaveLength(1);
});
