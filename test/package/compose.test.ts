import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadHubConfig } from "../../packages/toolyard/src/hub/open-hub.ts";
import { DEFAULT_REGISTRY } from "../../packages/toolyard/src/manager.ts";
import { Desk, ROOT, seen } from "../cli/harness.ts";

interface Block {
  readonly host: string;
  readonly command: readonly string[];
  readonly text: string;
}

/** Reads the services of compose.yaml, whose lists are in JSON. */
function readBlocks(): readonly Block[] {
  const [, services = ""] = readFileSync(join(ROOT, "compose.yaml"), "utf8").split("\nservices:\n");
  return services
    .split(/^ {2}(?=\S)/m)
    .slice(1)
    .map((text) => {
      const [, command = "[]"] = /^ {4}command:\s+(.*)$/m.exec(text) ?? [];
      return { host: text.slice(0, text.indexOf(":")), command: JSON.parse(command) as string[], text };
    });
}

const ALL = readBlocks();
const BLOCKS = ALL.filter(({ host }) => host !== "toolyard");
const HUB = ALL.find(({ host }) => host === "toolyard")!;

test("compose.yaml: one container for each line of the manager's registry, on its port, local only", () => {
  expect(BLOCKS.map(({ host }) => host)).toEqual(Object.values(DEFAULT_REGISTRY).map(({ host }) => host));
  for (const { host, text } of BLOCKS) {
    const { port } = Object.values(DEFAULT_REGISTRY).find((line) => line.host === host)!;
    expect(text).toContain(`ports: ["127.0.0.1:${port}:${port}"]`);
    expect(text).toContain(`fetch('http://127.0.0.1:${port}/healthz')`);
  }
});

test("compose.yaml: weather uses geocoding by the name of its container", () => {
  const { host, port } = DEFAULT_REGISTRY["geocode"]!;
  expect(BLOCKS.find(({ host: name }) => name === "weather-mcp")!.text).toContain(
    `GEOCODING_URL: "http://${host}:${port}/mcp"`,
  );
});

test.each(BLOCKS)(
  "compose.yaml: the command of $host starts its service like the image, and its health check works",
  async ({ host, command }) => {
    await using desk = await Desk.create();
    const child = desk.start([...command, "--port", "0", "--json"]);
    const [, line] = await seen(child.stdout!, /^(\{.*\})$/m);
    const { services } = JSON.parse(line!) as { services: { tool: string; url: string }[] };
    expect(services.map(({ tool }) => DEFAULT_REGISTRY[tool]?.host)).toEqual([host]);
    expect((await fetch(new URL("/healthz", services[0]!.url))).status).toBe(200);
    child.kill("SIGTERM");
    expect((await once(child, "exit"))[0]).toBe(0);
  },
);

test("compose.yaml: a service on all interfaces without --insecure is refused", async () => {
  await using desk = await Desk.create();
  const ran = await desk.run(["services", "datetime", "--host", "0.0.0.0", "--port", "0"]);
  expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--insecure") });
});

test("compose.yaml: the hub uses each service by its container's name, and starts after them", async () => {
  const [, file] = /volumes: \["\.\/([^:]+):\/etc\/toolyard\/toolyard\.toml:ro"\]/.exec(HUB.text)!;
  const { tree, warnings } = await loadHubConfig({ files: [join(ROOT, file!)], variables: {}, flags: {} });
  expect(warnings).toEqual([]);
  expect(tree.mcp?.remote_servers?.map(({ url }) => url).toSorted()).toEqual(
    Object.values(DEFAULT_REGISTRY)
      .map(({ host, port }) => `http://${host}:${port}/mcp`)
      .toSorted(),
  );
  const [, after] = /depends_on: (.*)$/m.exec(HUB.text)!;
  expect(JSON.parse(after!)).toEqual(BLOCKS.map(({ host }) => host));
  expect(HUB.text).toContain('ports: ["127.0.0.1:8808:8808"]');
});

test("compose.yaml: the hub's command starts it with a token, and fails without one", async () => {
  await using desk = await Desk.create();
  const file = /\.\/([^:]+):/.exec(HUB.text)![1]!;
  const words = HUB.command.map((word) => (word.startsWith("/etc/") ? join(ROOT, file) : word));
  const refused = await desk.run([...words, "--port", "0"], { env: { TOOLYARD_TOKEN: "" } });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("TOOLYARD_TOKEN") });
  const child = desk.start([...words, "--port", "0"], { env: { TOOLYARD_TOKEN: "a-token-of-this-test" } });
  const [, port] = await seen(child.stdout!, /serves .* at http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST" })).status).toBe(401);
  child.kill("SIGTERM");
  await once(child, "exit");
});
