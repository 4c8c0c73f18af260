import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startModels, type ModelStandIn, type ScriptedReply } from "../agent/stand-in.ts";
import { startProviders, type Providers } from "../fixtures/services/providers.ts";
import { OtlpReceiver } from "../support/otlp-receiver.ts";
import { SCRIPTS, SCRIPTS_TOML } from "./files.ts";
import { Desk, exitOf, seen, textOf } from "./harness.ts";

const MODEL = ["--model", "mistral/mistral-large-latest"];
const call = (name: string, args: object): ScriptedReply => ({ calls: [{ name, arguments: args }] });

let models: ModelStandIn;
let desk: Desk;
let env: Readonly<Record<string, string>>;
beforeEach(async () => {
  models = await startModels();
  desk = await Desk.create({ ...SCRIPTS, "toolyard.toml": SCRIPTS_TOML });
  env = { MISTRAL_API_KEY: "stand-in-key", MISTRAL_BASE_URL: `${models.url}/mistral` };
});
afterEach(async () => {
  await desk[Symbol.asyncDispose]();
  await models.close();
});

/** Starts a `toolyard` command that prints its address as one line of JSON. */
async function background(
  args: readonly string[],
  own: Readonly<Record<string, string>> = {},
): Promise<{ child: ReturnType<Desk["start"]>; told: unknown }> {
  const child = desk.start([...args, "--json"], { env: own });
  const [, line] = await seen(child.stdout!, /^(\{.*\})$/m);
  return { child, told: JSON.parse(line!) };
}

describe("--once", () => {
  test("prints only the answer on standard output, and its tool calls on standard error", async () => {
    models.say([
      { text: "Let me see.", calls: [{ name: "work", arguments: { how: "well" } }] },
      { text: "It works well." },
    ]);
    const ran = await desk.run(["chat", ...MODEL, "--once", "Does it work?"], { env });
    expect(ran).toMatchObject({ code: 0, stdout: "Let me see.\nIt works well.\n" });
    expect(ran.stderr).toMatch(
      /^→ work \{"how":"well"\}\n← work in .+: \{"text":"","how":"well"\}\n\d+ tokens read, \d+ written, .+\n$/,
    );
    expect(models.asked).toHaveLength(2);
  });

  test("sends spans of the steps, tool calls and model requests if `OTEL_*` names a collector", async () => {
    await using collector = await OtlpReceiver.start();
    models.say([call("work", { how: "well" }), { text: "Yes." }]);
    const traced = { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` };
    expect(await desk.run(["chat", ...MODEL, "--once", "Does it work?"], { env: traced })).toMatchObject({ code: 0 });
    const spans = new Map(collector.spans.map((span) => [span.name, span]));
    const parentOf = (name: string) => collector.spans.find(({ spanId }) => spanId === spans.get(name)?.parentId)?.name;
    expect(parentOf("agent step 1")).toBe("invoke_agent");
    expect(parentOf("tools/call work")).toBe("agent step 1");
    expect(parentOf("run scripts")).toBe("tools/call work");
    expect(parentOf("chat mistral-large-latest")).toBe("agent step 2");
  });

  test("prints each event as a line with --json, the outcome last", async () => {
    models.say([call("work", { how: "well" }), { text: "Yes." }]);
    const ran = await desk.run(["chat", ...MODEL, "--json", "--once", "Does it work?"], { env });
    const events = ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.filter(({ type }) => type !== "text").map(({ type }) => type)).toEqual([
      "step",
      "call",
      "result",
      "step",
      "outcome",
    ]);
    expect(events.find(({ type }) => type === "result")).toMatchObject({
      tool: "work",
      ok: true,
      value: { how: "well" },
      durationMs: expect.any(Number),
    });
    expect(events.at(-1)).toMatchObject({ outcome: { text: "Yes.", stopReason: "final" } });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
  });

  test("reports a limit and a failing provider on standard error, with an exit code", async () => {
    models.say([call("work", { how: "well" })]);
    const limited = await desk.run(["chat", ...MODEL, "--max-iterations", "1", "--once", "Does it work?"], { env });
    expect(limited).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("max_iterations: ") });
    models.say([{ status: 400, message: "no such model" }]);
    const failed = await desk.run(["chat", ...MODEL, "--once", "Hello"], { env });
    expect(failed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^error: .*no such model/m) });
  });
});

describe("reports missing settings before it starts any process", () => {
  test.each([
    [
      ["--model", "mistral/x"],
      "There is no key for mistral: set the variable MISTRAL_API_KEY, or `api_key` in [models.providers.mistral].\n",
    ],
    [
      ["--model", "openai/x"],
      "There is no key for openai: set the variable OPENAI_API_KEY, or `api_key` in [models.providers.openai].\n",
    ],
    [
      ["--model", "anthropic/x"],
      "There is no key for anthropic: set the variable ANTHROPIC_API_KEY, or `api_key` in " +
        "[models.providers.anthropic].\n",
    ],
    [
      [],
      "No model is configured. Name one with --model, such as mistral/mistral-large-latest or ollama/qwen3, or set " +
        "`language` in [models].\n",
    ],
    [
      ["--model", "mistrall/x"],
      'Unknown model provider "mistrall". Did you mean "mistral"? ' +
        "An entry `[models.providers.mistrall]` adds one.\n",
    ],
    [
      ["--model", "ollama/x", "--max-iterations", "0"],
      '--max-iterations must be a whole number from 1 to 1000, got "0".\n',
    ],
  ])("%j", async (args, line) => {
    expect(await desk.run(["chat", ...args, "--once", "Hello"])).toEqual({ code: 2, stdout: "", stderr: line });
  });
});

test("uses chat completions at an OPENAI_BASE_URL that has no responses API", async () => {
  models.say([{ text: "By chat." }, { text: "Again." }]);
  const own = { OPENAI_API_KEY: "stand-in-key", OPENAI_BASE_URL: `${models.url}/compatible/v1` };
  const ran = await desk.run(["chat", "--model", "openai/x"], { env: own, stdin: "Hello\nMore\n" });
  expect(ran).toMatchObject({ code: 0, stdout: "By chat.\nAgain.\n" });
  expect(models.asked.map(({ path }) => path)).toEqual(Array(2).fill("/compatible/v1/chat/completions"));
});

describe("a conversation", () => {
  test("never sends a slash command to the model, and answers unknown ones itself", async () => {
    models.say([{ text: "Yes." }]);
    const stdin = "/help\n/tools\n/tools nothing-like-it\n/tolls\n/model x\n /help is a command?\n/quit\nno\n";
    const ran = await desk.run(["chat", ...MODEL], { env, stdin });
    expect(ran).toMatchObject({ code: 0, stdout: "Yes.\n" });
    expect(ran.stderr).toMatch(/\/tools \[words\].*[\s\S]*^work +Works, fails or waits$/m);
    expect(ran.stderr).toContain("Unknown command /tolls. Did you mean /tools?");
    expect(models.asked).toHaveLength(1);
    expect(JSON.stringify(models.asked[0]!.body)).toContain("/help is a command?");
    const json = await desk.run(["chat", ...MODEL, "--json"], { env, stdin: "/nothing\n" });
    expect(JSON.parse(json.stdout)).toMatchObject({ type: "command", command: "/nothing" });
  });

  test("continues over several lines, starts again with /clear, and ends with its input", async () => {
    models.say([{ text: "Hello Ada." }, { text: "You are Ada." }, { text: "I do not know." }]);
    const ran = await desk.run(["chat", ...MODEL], { env, stdin: "I am Ada\nWho am I?\n\n/clear\nWho am I?\n" });
    expect(ran).toMatchObject({ code: 0, stdout: "Hello Ada.\nYou are Ada.\nI do not know.\n" });
    const bodies = models.asked.map(({ body }) => JSON.stringify(body));
    expect(bodies[1]).toContain("I am Ada");
    expect(bodies[2]).not.toContain("I am Ada");
  });

  test("Ctrl+C stops the answer, not the program; a second one without an answer ends the program", async () => {
    models.say([{ text: "And so on and so on", hangs: true }, { text: "Still here." }]);
    const child = desk.start(["chat", ...MODEL], { env });
    const output = seen(child.stdout!, /And so on/);
    const stopped = seen(child.stderr!, /cancelled: /);
    child.stdin!.write("Talk\n");
    await output;
    child.kill("SIGINT");
    await stopped;
    await models.asked[0]!.left;
    const answered = seen(child.stdout!, /Still here\.\n/);
    child.stdin!.write("Are you there?\n");
    await answered;
    // The answer is complete once its line is printed and the prompt waits for the next line.
    const warned = seen(child.stderr!, /Press Ctrl\+C again/);
    child.kill("SIGINT");
    await warned;
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(0);
  });

  test("ends immediately at SIGTERM", async () => {
    models.say([{ text: "And so on and so on", hangs: true }]);
    const child = desk.start(["chat", ...MODEL], { env });
    child.stdin!.write("Talk\n");
    await seen(child.stdout!, /And so on/);
    child.kill("SIGTERM");
    expect([0, 130]).toContain(await exitOf(child));
  });
});

/** Titles as the guide's configuration uses them. */
const TITLES: Readonly<Record<string, string>> = {
  datetime: "Datetime MCP",
  "web-search": "Search MCP",
  weather: "Weather MCP",
  geocoding: "Geocoding MCP",
};

describe("the weather question with separate programs", () => {
  let providers: Providers;
  beforeEach(async () => {
    providers = await startProviders();
  });
  afterEach(() => providers.close());

  /** Starts four services and a hub for them, and returns the address of the hub. */
  async function startHub() {
    const geocoding = await background(["services", "geocoding", "--port", "0"], providers.environment);
    const [place] = (geocoding.told as { services: { url: string; port: number }[] }).services;
    const weather = await background(["services", "weather", "--port", "0"], {
      ...providers.environment,
      GEOCODING_URL: place!.url,
    });
    const others = await background(["services", "datetime", "web-search", "--port", "0"], providers.environment);
    const services = [weather, others, geocoding].flatMap(
      ({ told }) => (told as { services: { name: string; url: string; port: number }[] }).services,
    );
    const entryOf = ({ name, url }: { name: string; url: string }): string =>
      `\n[[mcp.remote_servers]]\nalias = "${name}"\ndisplay_name = "${TITLES[name]}"\nurl = "${url}"\n`;
    await desk.write("hub.toml", `[server]\nport = 0\n${services.map(entryOf).join("")}`);
    const hub = await background(["serve", "--config", desk.path("hub.toml")]);
    return {
      url: (hub.told as { url: string }).url,
      geocoding: geocoding.child,
      port: place!.port,
      weather: weather.child,
      weatherPort: services[0]!.port,
    };
  }

  test("M10: answers a question with four services and the hub, with exactly these calls", async () => {
    const { url } = await startHub();
    models.say([
      {
        calls: [
          { name: "weather__get_weather", arguments: { location: "Tokyo" } },
          { name: "datetime__get_current_datetime", arguments: { timezone: "Asia/Tokyo" } },
        ],
      },
      { text: "It is 13 °C and partly cloudy in Tokyo." },
    ]);
    const ran = await desk.run(["chat", ...MODEL, "--url", url, "--json", "--once", "What is the weather in Tokyo?"], {
      env,
    });
    expect(ran.stderr).toBe("");
    const { outcome } = JSON.parse(ran.stdout.trim().split("\n").at(-1)!) as {
      outcome: { steps: { calls: { tool: string; arguments: object; ok: boolean; value: unknown }[] }[] };
    };
    expect(outcome).toMatchObject({ text: "It is 13 °C and partly cloudy in Tokyo.", stopReason: "final" });
    expect(
      outcome.steps.flatMap(({ calls }) => calls.map(({ tool, arguments: args, ok }) => [tool, args, ok])),
    ).toEqual([
      ["weather__get_weather", { location: "Tokyo" }, true],
      ["datetime__get_current_datetime", { timezone: "Asia/Tokyo" }, true],
    ]);
    expect(outcome.steps[0]!.calls[0]!.value).toMatchObject({
      location: { name: "Tokyo", country: "Japan" },
      current: { temperature: 13 },
    });
    expect(providers.asked.map((path) => path.split("?")[0])).toEqual(["/search", "/v1/forecast"]);
    expect(JSON.stringify(models.asked[1]!.body)).toContain("partly cloudy");
  }, 60_000);

  test("M7: gives the model the specified error object if weather is killed; the chat continues", async () => {
    const { url, weather, weatherPort } = await startHub();
    const again = { location: "Tokyo, Japan" };
    models.say([
      call("weather__get_weather", { location: "Tokyo" }),
      { text: "13 °C." },
      call("weather__get_weather", again),
      { text: "I cannot look it up right now." },
      { text: "Bye." },
    ]);
    const child = desk.start(["chat", ...MODEL, "--url", url], { env });
    const first = seen(child.stdout!, /13 °C\./);
    child.stdin!.write("Weather in Tokyo?\n");
    await first;
    weather.kill("SIGKILL");
    await once(weather, "exit");
    const second = seen(child.stdout!, /I cannot look it up right now\./);
    child.stdin!.write("And again?\n");
    await second;
    child.stdin!.end("Bye\n");
    expect(await exitOf(child)).toBe(0);
    const results = (models.asked[3]!.body["messages"] as { role: string; content: string }[]).filter(
      ({ role }) => role === "tool",
    );
    expect(results.at(-1)!.content).toBe(`{"error":"Weather MCP unavailable on port ${weatherPort}"}`);
    expect(models.asked).toHaveLength(5);
  }, 60_000);

  test("M7: gives the model the specified error object if a service is killed during the chat", async () => {
    const { url, geocoding, port } = await startHub();
    const question = { location: "Tokyo, Japan" };
    models.say([
      call("weather__get_weather", { location: "Tokyo" }),
      { text: "13 °C." },
      call("weather__get_weather", question),
      { text: "I cannot look it up right now." },
    ]);
    const child = desk.start(["chat", ...MODEL, "--url", url], { env });
    const first = seen(child.stdout!, /13 °C\./);
    child.stdin!.write("Weather in Tokyo?\n");
    await first;
    geocoding.kill("SIGKILL");
    await once(geocoding, "exit");
    const second = seen(child.stdout!, /I cannot look it up right now\./);
    child.stdin!.write("And again?\n");
    await second;
    child.stdin!.end();
    expect(await exitOf(child)).toBe(0);
    const results = JSON.stringify(models.asked[3]!.body);
    expect(results.replaceAll("\\", "")).toContain(`{"error":"Geocoding MCP unavailable on port ${port}"}`);
  }, 60_000);
});

test("names the options in the help", async () => {
  const child = desk.start(["chat", "--help"]);
  expect(await textOf(child.stdout!)).toMatch(/--once <question>/);
});
