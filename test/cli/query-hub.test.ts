// Requests of commands to a running hub besides MCP: its status, and its search.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Desk } from "./harness.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const STATUS = JSON.stringify({ version: "9.9.9", uptimeSeconds: 1, sources: [] });

test("uses the environment's proxy, but connects directly to a hub on this machine", async () => {
  await using desk = await Desk.create();
  const asked: string[] = [];
  const proxy = await listen((request, response) => {
    asked.push(request.url!);
    response.end(STATUS);
  });
  const env = { HTTP_PROXY: proxy };
  expect(await desk.run(["status", "--url", "http://hub.example/mcp"], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("toolyard 9.9.9, up 1 s, at http://hub.example"),
  });
  const near = await listen((_, response) => response.end(STATUS));
  expect(await desk.run(["status", "--url", `${near}/mcp`], { env })).toMatchObject({ code: 0 });
  expect(asked).toEqual(["http://hub.example/status"]);
});

test("status shows why a changed configuration was not applied", async () => {
  await using desk = await Desk.create();
  const body = {
    version: "9.9.9",
    uptimeSeconds: 1,
    sources: [],
    configurationProblem: "Unknown option\n\u001b[2J`prot`",
  };
  const url = await listen((_, response) => response.end(JSON.stringify(body)));
  const { code, stdout } = await desk.run(["status", "--url", url]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining("was not applied; the previous one stays in force. Unknown option  [2J`prot`"),
  ]);
});

test("limits the size of a response", async () => {
  await using desk = await Desk.create();
  const piece = Buffer.alloc(1024 * 1024, " ");
  const url = await listen((_, response) => {
    const go = (): void => {
      while (!response.destroyed && response.write(piece));
      response.once("drain", go);
    };
    go();
  });
  const { code, stderr } = await desk.run(["status", "--url", url]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("Is ")]);
  expect(stderr).toContain("which is not read");
});

test("reports the status of a redirect, and does not follow it", async () => {
  await using desk = await Desk.create();
  const asked: string[] = [];
  const other = await listen((request, response) => {
    asked.push(request.url!);
    response.end(STATUS);
  });
  const url = await listen((_, response) => response.writeHead(302, { location: `${other}/status` }).end());
  expect(await desk.run(["status", "--url", url])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("answered HTTP 302 and no status"),
  });
  expect(asked).toEqual([]);
});
