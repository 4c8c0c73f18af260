// No download at run time: every Node process of these runs refuses connections to other machines, and reports an
// attempt.
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startModels, type ModelStandIn } from "../agent/stand-in.ts";
import { SCRIPTS, SCRIPTS_TOML } from "../cli/files.ts";
import { Desk, ROOT, seen, type Ran } from "../cli/harness.ts";

const CONFIG = `${SCRIPTS_TOML}
[modules]
paths = ["src"]
[default_tools]
enable = ["file_writer", "python_interpreter"]
[services]
datetime = true
gnn = true
`;
const AWAY = '[[mcp.remote_servers]]\nnamespace = "away"\nurl = "http://192.0.2.7/mcp"\n';
const MODULE = `export const register_tools = (mcp) => mcp.register_tool("marsh.area", () => 9, {}, "The area");\n`;
const MODEL = "## GNNSection\nMarsh\n## StateSpaceBlock\nD[2,type=float]\ns[2,1,type=float]\n## Connections\nD>s\n";

let desk: Desk;
let models: ModelStandIn;
let env: Readonly<Record<string, string>>;
let runs = 0;

beforeAll(async () => {
  models = await startModels();
  desk = await Desk.create({
    ...SCRIPTS,
    "toolyard.toml": CONFIG,
    "away.toml": AWAY,
    "src/marsh/mcp.mjs": MODULE,
    "model.md": MODEL,
    "sum.py": "print(sum(range(10)))\n",
    "sum.ts": "const all: number[] = [4, 5]; console.log(all.reduce((a, b) => a + b));\n",
  });
});
beforeEach(() => {
  runs += 1;
  env = {
    NODE_OPTIONS: `--require ${join(ROOT, "test/fixtures/no-network.cjs")}`,
    NETWORK_LOG: desk.path(`network-${runs}`),
    MISTRAL_API_KEY: "a-key-of-this-test",
    MISTRAL_BASE_URL: `${models.url}/mistral`,
  };
});
afterAll(async () => {
  await desk?.[Symbol.asyncDispose]();
  await models?.close();
});

const tried = (): string => (existsSync(env["NETWORK_LOG"]!) ? readFileSync(env["NETWORK_LOG"]!, "utf8") : "");
const toolyard = (...args: readonly string[]): Promise<Ran> => desk.run(args, { env });

test.each([
  [["list"], "get_current_datetime"],
  [["search", "what time is it"], "get_current_datetime"],
  [["check"], "Everything answers."],
  [["call", "work", "how=well"], '{"text":"","how":"well"}'],
  [["call", "get_current_datetime", "timezone=UTC"], '"timezone":"UTC"'],
  [["call", "python_interpreter", "code=6 * 7"], '"returned_value":42'],
  [["run", "sum.py"], "45"],
  [["run", "sum.ts"], "9"],
  [["core", "execute", "marsh.area"], '"result": 9'],
  [["gnn", "draw", "model.md"], "<svg"],
  [["init", "--help"], "toolyard init"],
] as const)("`toolyard %j` fetches nothing", async (args, said) => {
  const { code, stdout, stderr } = await toolyard(...args);
  expect([code, tried()], stderr).toEqual([0, ""]);
  expect(stdout).toContain(said);
});

test("a serving hub and its services fetch nothing", async () => {
  for (const args of [
    ["serve", "--port", "0"],
    ["services", "--port", "0"],
  ]) {
    const child = desk.start([...args, "--json"], { env });
    const [, line] = await seen(child.stdout!, /^(\{.*\})$/m);
    const [, address] = /"(http:\/\/127\.0\.0\.1:\d+)/.exec(line!)!;
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    child.kill("SIGTERM");
    await once(child, "exit");
    expect(tried()).toBe("");
  }
});

test("a chat requests only its model", async () => {
  models.say([{ calls: [{ name: "work", arguments: { how: "well" } }] }, { text: "It works." }]);
  const { code, stdout } = await toolyard("chat", "--model", "mistral/mistral-large-latest", "--once", "Does it?");
  expect([code, stdout, tried()]).toEqual([0, "It works.\n", ""]);
});

test("reports each connection to another machine: a remote server and a remote model", async () => {
  await toolyard("check", "--config", "away.toml");
  expect(tried()).toContain("connect 192.0.2.7 by ");
  env = { ...env, NETWORK_LOG: desk.path("network-model"), MISTRAL_BASE_URL: "http://models.example" };
  expect((await toolyard("chat", "--model", "mistral/mistral-large-latest", "--once", "Hello?")).code).not.toBe(0);
  expect(tried()).toContain("models.example by ");
});
