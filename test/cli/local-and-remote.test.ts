// Every command with `--url` has the same output locally and at the address of a hub with the same configuration.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram } from "../../packages/toolyard/src/cli/program.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { processIo } from "../../packages/toolyard/src/cli/output/io.ts";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { startModels, type ModelStandIn, type ScriptedReply } from "../agent/stand-in.ts";
import { SCRIPTS, SCRIPTS_TOML } from "./files.ts";
import { Desk, type Ran } from "./harness.ts";

const MODULE = `export function registerTools(hub) {
  hub.registerTool("notes.read", ({ name }) => "note " + name, { type: "object",
    properties: { name: { type: "string" } }, required: ["name"] }, "Reads a note by its name",
    { annotations: { readOnlyHint: true } });
  hub.registerTool("notes.drop", () => "dropped", {}, "Drops all notes", { visibility: "ondemand" });
  hub.registerTool("notes.picture", () => ({ content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] }), {},
    "Draws the notes");
  hub.registerResource("notes://all", () => "all notes", "All notes");
  hub.registerResource("notes://{name}", ({ name }) => "note " + name, "One note");
  hub.registerPrompt("notes.write", ({ about }) => "Write about " + about,
    { arguments: [{ name: "about", required: true }] });
}`;

/** Command lines of each command with `--url`; each runs locally and with `--url`. */
const LINES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  list: [
    [],
    ["--json"],
    ["--mode", "normal"],
    ["--tokens"],
    ["--mode", "discovery"],
    ["--mode", "discovery", "--json"],
    ["--resources"],
    ["--templates"],
    ["--prompts", "--json"],
  ],
  search: [
    ["reads", "a", "note"],
    ["note", "--json"],
    ["note", "--server", "notes", "--json"],
    ["note", "--read-only", "-n", "2", "--json"],
    ["note", "--server", "nobody"],
    ["qwertz", "--json"],
    ["", "--limit", "3"],
  ],
  show: [["notes.read"], ["notes.read", "--json"], ["nothing.like.it"]],
  call: [
    ["notes.read", "name=tea"],
    ["notes.read", "name=tea", "--json"],
    ["notes.picture"],
    ["work", "how=well", "text=3"],
    ["work", "how=fail"],
    ["work", "how=nonsense"],
    ["nothing.like.it"],
    ["tool_search", "query=note"],
  ],
  run: [["code.js"], ["code.js", "--out", "made"]],
  resource: [["notes://all"], ["notes://tea", "--json"], ["nowhere://x"]],
  prompt: [["notes.write", "about=tea"], ["notes.write"], ["nothing"]],
  status: [[], ["--json"]],
  top: [["--once"], ["--once", "--json"]],
  chat: [["--model", "mistral/m", "--once", "What does the note say?"]],
};

let models: ModelStandIn;
let desk: Desk;
let hub: LibraryHub;
let url: string;
let port: string;

beforeAll(async () => {
  models = await startModels();
  desk = await Desk.create({
    ...SCRIPTS,
    "modules/notes/mcp.mjs": MODULE,
    "code.js": "(await tools.notes.read({ name: 'tea' })) + (await search('note')).length",
  });
  const config = await desk.write("toolyard.toml", `${SCRIPTS_TOML}\n[modules]\npaths = ["modules"]\n`);
  hub = await createHub({
    config,
    settings: { server: { port: 0 } },
    variables: { ...process.env, TOOLYARD_HOME: desk.path("served") },
    logger: SILENT_LOGGER,
  });
  url = (await hub.serve()).endpoint;
  port = new URL(url).port;
}, 60_000);
afterAll(async () => {
  await hub?.close();
  await models?.close();
  await desk?.[Symbol.asyncDispose]();
});

/** Returns the output of `top` without the figures, and their widths, that depend on the time since the hub started. */
function withoutSpan(stdout: string): string {
  return stdout
    .replaceAll(/"(spanMs|perSecond)": [\d.]+/g, '"$1": …')
    .replace(/ calls in .+ \(\S+\/s\)/, " calls in … (…/s)")
    .replaceAll(/^((?:\S+ +)+?\d+ +)[\d.]+( +[\d.]+ m?s )/gm, "$1…$2")
    .replaceAll(/ {2,}/g, "  ");
}

/** Returns the output without parts that may differ between two runs against one hub. */
function still({ code, stdout }: Ran): Pick<Ran, "code" | "stdout"> {
  return {
    code,
    stdout: stdout
      .replaceAll(/up \d+ s/g, "up … s")
      .replaceAll(/"(uptimeSeconds|uptimeMs|duration_ms|ms)": \d+/g, '"$1": …')
      .replaceAll(/ at http:\S+/g, " at …")
      .replaceAll(/ --url http:\S+/g, ""),
  };
}

async function ran(name: string, words: readonly string[], there: boolean): Promise<Pick<Ran, "code" | "stdout">> {
  const env = {
    TOOLYARD_SERVER_PORT: port,
    MISTRAL_API_KEY: "stand-in-key",
    MISTRAL_BASE_URL: `${models.url}/mistral`,
  };
  const shown = await desk.run([name, ...words, ...(there ? ["--url", url] : [])], { env });
  return still(name === "top" ? { ...shown, stdout: withoutSpan(shown.stdout) } : shown);
}

const ANSWERS: readonly ScriptedReply[] = [
  { calls: [{ name: "notes.read", arguments: { name: "tea" } }] },
  { text: "It says tea." },
];

describe("locally and at a URL", () => {
  test("the cases cover every command that accepts --url", async () => {
    const program = await createProgram(processIo(new AbortController().signal), "0", {
      json: false,
      finish: () => {},
    });
    const takeUrl = program.commands.filter(({ options }) => options.some(({ long }) => long === "--url"));
    // These commands always call a running hub.
    const names = takeUrl.map((command) => command.name()).filter((name) => !["open", "whoami"].includes(name));
    expect(names.toSorted()).toEqual(Object.keys(LINES).toSorted());
  });

  test.each(Object.entries(LINES).flatMap(([name, lines]) => lines.map((words) => [name, words] as const)))(
    "%s %j gives the same output and the same exit code",
    async (name, words) => {
      models.say(ANSWERS);
      const here = await ran(name, words, false);
      models.say(ANSWERS);
      expect(await ran(name, words, true)).toEqual(here);
      if (here.code === 0) expect(here.stdout).not.toBe("");
    },
  );
});
