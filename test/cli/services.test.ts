import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { startProviders } from "../fixtures/services/providers.ts";
import { Desk, exitOf, seen, textOf } from "./harness.ts";

interface StartedServices {
  readonly pid: number;
  readonly services: readonly {
    readonly name: string;
    readonly tool: string;
    readonly port: number;
    readonly url: string;
  }[];
}

async function start(desk: Desk, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = desk.start(["services", ...args, "--json"], { env });
  const [, line] = await seen(child.stdout!, /^(\{.*\})$/m);
  return { child, ...(JSON.parse(line!) as StartedServices) };
}

describe("toolyard services", () => {
  test("M14: starts all four services and prints their addresses; Ctrl+C ends them all", async () => {
    await using desk = await Desk.create();
    const child = desk.start(["services", "--port", "0"]);
    const [text] = await seen(child.stdout!, /[^]*Ctrl\+C ends them\./);
    const rows = [...text.matchAll(/^(\S+) +(\S+) +(\d+) +(http:\/\/127\.0\.0\.1:\d+\/mcp)$/gm)].map(
      ([, name, tool]) => [name, tool],
    );
    expect(rows).toEqual([
      ["datetime", "get_current_datetime"],
      ["web-search", "search_ddgs"],
      ["weather", "get_weather"],
      ["geocoding", "geocode"],
    ]);
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
  });

  test("M10: the weather service uses the geocoding service that is started with it", async () => {
    await using desk = await Desk.create();
    await using providers = await startProviders();
    const { services } = await start(desk, ["--port", "0"], providers.environment);
    const { url } = services.find(({ name }) => name === "weather")!;
    const { code, stdout } = await desk.run(["call", "get_weather", "location=Tokyo", "--url", url]);
    expect({ code, answer: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 0,
      answer: { location: { name: "Tokyo", country: "Japan" }, current: { temperature: 13 } },
    });
  });

  test("M10: the weather service uses a hub with --hub", async () => {
    await using desk = await Desk.create();
    await using providers = await startProviders();
    const behind = await start(desk, ["geocoding", "--port", "0"], providers.environment);
    await desk.write(
      "toolyard.toml",
      `[server]\nport = 0\n\n[[mcp.remote_servers]]\nalias = "geocoding"\nurl = "${behind.services[0]!.url}"\n`,
    );
    const hub = desk.start(["serve", "--json"]);
    const [, line] = await seen(hub.stdout!, /^(\{.*\})$/m);
    const { url } = JSON.parse(line!) as { url: string };
    const { services } = await start(desk, ["--only", "weather", "--port", "0", "--hub", url], providers.environment);
    const ran = await desk.run(["call", "get_weather", "location=Tokyo", "--url", services[0]!.url]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ location: { name: "Tokyo" } });
  });

  test("--only and names select services; --port sets the port of one service or of all", async () => {
    await using desk = await Desk.create();
    const { services } = await start(desk, ["weather", "--only", "datetime", "--port", "0", "--port", "weather=0"]);
    expect(services.map(({ name, tool }) => [name, tool])).toEqual([
      ["datetime", "get_current_datetime"],
      ["weather", "get_weather"],
    ]);
  });

  test("--port counts the started services, so a single one listens on exactly this port", async () => {
    await using desk = await Desk.create();
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, "close");
    const { services } = await start(desk, ["weather", "--port", String(port)]);
    expect(services.map(({ name, port: own }) => [name, own])).toEqual([["weather", port]]);
  });

  test("C34: reports a busy port with its default service, and leaves nothing behind", async () => {
    await using desk = await Desk.create();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const ran = await desk.run(["services", "geocoding", "datetime", "--port", "0", "--port", `datetime=${port}`]);
    other.close();
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toBe(
      `The datetime service cannot start. Port ${port} on 127.0.0.1 is in use by another program. ` +
        "Stop that program, or choose another port with --port N or `server.port` (0 takes a free one). " +
        "This service alone is moved by --port datetime=N.\n",
    );
  });

  test.each([
    [
      ["nothing"],
      'There is no service "nothing". The services are datetime, web-search, weather, geocoding, gnn, library.',
    ],
    [["--port", "weather=x"], "--port must be a number from 0 to 65535"],
    [["datetime", "--port", "weather=1"], "such as datetime=6000"],
    [["--stdio"], "--stdio serves one service"],
    [["--host", "0.0.0.0"], "Refusing to listen on 0.0.0.0 without a token"],
    [["--hub", "hub"], "hub"],
  ])("refuses the command line %j and prints the correct form", async (args, words) => {
    await using desk = await Desk.create();
    const ran = await desk.run(["services", ...args]);
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(words) });
  });

  test("a variable of the hub changes no port of a service", async () => {
    await using desk = await Desk.create();
    const child = desk.start(["services", "datetime", "--port", "0", "--json"], {
      env: { TOOLYARD_SERVER_TOKEN: "a-token-of-the-hub", TOOLYARD_SERVER_BASE_PATH: "/x" },
    });
    const [, line] = await seen(child.stdout!, /^(\{.*\})$/m);
    const ran = await desk.run([
      "call",
      "get_current_datetime",
      "timezone=UTC",
      "--url",
      (JSON.parse(line!) as StartedServices).services[0]!.url,
    ]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ timezone: "UTC" });
    child.kill("SIGTERM");
    expect(await textOf(child.stderr!)).toBe("");
  });
});
