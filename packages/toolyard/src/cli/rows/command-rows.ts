import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

const CONFIG = new Option(
  "-c, --config <file>",
  "configuration file: toolyard.toml or a desktop client's JSON; repeatable, later ones win",
).argParser(collect);
const YES = new Option("-y, --yes", "accept what the toolyard.toml of this folder starts");
const URL = new Option("--url <url>", "use the MCP endpoint at this address instead of starting a hub here");
const TOKEN_ENV = new Option("--token-env <name>", "name of the variable that holds the bearer token");
const JSON_OUT = new Option("--json", "print JSON for programs");
/** Option that is accepted in any position. */
export const VERBOSE = new Option("-v, --verbose", "log more, on standard error");
const TIMEOUT = new Option("--timeout <duration>", "give up after this long, such as 30s or 5m");

const LOCAL = [CONFIG, YES, JSON_OUT, VERBOSE];
const REMOTE = [CONFIG, YES, URL, TOKEN_ENV, JSON_OUT, VERBOSE];

/** Commands about tools and their configuration, in the order of the help. */
const OF_THE_HUB: readonly CommandRow[] = [
  {
    usage: "serve",
    summary: "serve all tools behind one MCP endpoint",
    examples: [
      "toolyard serve",
      "toolyard serve --stdio --config mcp.json",
      "toolyard serve --stdio --shared",
      "toolyard serve --port 9000 --tool-mode discovery",
    ],
    options: [
      CONFIG,
      YES,
      new Option("--found").hideHelp(),
      new Option("--stdio", "speak MCP on standard input and output instead of HTTP"),
      new Option(
        "--shared",
        "with --stdio: join the hub that other clients use, or start it; without --stdio: be that hub",
      ),
      new Option("--linger <duration>", "time that a shared hub runs after its last client has left (default: 30s)"),
      new Option("--for-clients").hideHelp(),
      new Option("--host <host>", "address to listen on (default: 127.0.0.1)"),
      new Option("--port <port>", "port to listen on; 0 for any free port (default: 8808)"),
      new Option("--base-path <path>", "path before /mcp"),
      new Option("--tool-mode <mode>", "content of lists, unless a request sets another").choices([
        "normal",
        "discovery",
        "all",
      ]),
      new Option("--era <era>", "`legacy`: do not offer revision 2026-07-28 to clients").choices(["auto", "legacy"]),
      new Option("--profile <name>", "with --stdio: serve this profile of the configuration"),
      new Option(
        "--deny <pattern>",
        "with --stdio: hide these tools, prompts and URIs from the client; repeatable",
      ).argParser(collect),
      new Option(
        "--workers <count>",
        "processes that serve HTTP connections, or `auto` (default: 1, all in one process)",
      ),
      TOKEN_ENV,
      new Option("--insecure", "listen beyond this machine without a token"),
      new Option("-q, --quiet", "do not show calls on the terminal as they happen"),
      new Option("--no-watch", "do not reload when a configuration file changes"),
      JSON_OUT,
      VERBOSE,
    ],
    load: () => import("../commands/serve.ts"),
  },
  {
    usage: "list",
    summary: "list tools; or resources, templates, prompts",
    examples: ["toolyard list", "toolyard list --resources --json", "toolyard list --url http://127.0.0.1:8808/mcp"],
    options: [
      ...REMOTE,
      new Option("--mode <mode>", "the tools to list").choices(["normal", "discovery", "all"]).default("all"),
      new Option("--resources", "list resources"),
      new Option("--templates", "list resource templates"),
      new Option("--prompts", "list prompts"),
      new Option("--tokens", "estimate what each tool costs a model"),
    ],
    excessAdvice: (name) =>
      `\`toolyard list\` lists all tools and has no argument. \`toolyard show ${name}\` shows the tool ${name}, and ` +
      `\`toolyard search ${name}\` finds tools.`,
    load: () => import("../commands/list.ts"),
  },
  {
    usage: "show <tool>",
    summary: "show one tool: description, parameters, and an example call",
    examples: ["toolyard show calculator", "toolyard show files__read_text_file --json"],
    options: REMOTE,
    load: () => import("../commands/show.ts"),
  },
  {
    usage: "search [query...]",
    summary: "find tools by what they do",
    examples: ['toolyard search "send an email"', "toolyard search weather --limit 3 --json"],
    options: [
      ...REMOTE,
      new Option("-n, --limit <count>", "number of results, at most 100").default("10"),
      new Option("--server <name>", "only tools of this server"),
      new Option("--read-only", "only read-only tools"),
      new Option("--why", "show why each tool was found: words, meaning, neighbours, server"),
    ],
    load: () => import("../commands/search.ts"),
  },
  {
    usage: "call <tool> [arguments...]",
    summary: "call a tool: arguments as JSON, as key=value, or `-` for JSON on standard input",
    examples: [
      'toolyard call calculator \'{"operation":"add","a":2,"b":3}\'',
      "toolyard call calculator operation=add a=2 b=3",
      "toolyard call files__read_text_file path=hello.txt --json",
      "toolyard call generate_image prompt='a red kite' --out pictures/",
      "toolyard call monthly_report year=2026 --task",
    ],
    options: [
      ...REMOTE,
      TIMEOUT,
      new Option("--task", "start the call on a running hub as a task, print the task, and end"),
      new Option("-o, --out <path>", "save images, audio and resources in this folder; a single one in this file"),
    ],
    load: () => import("../commands/call.ts"),
  },
  {
    usage: "run <file>",
    summary:
      "run Python, TypeScript or JavaScript in the sandbox, with access to the hub's tools; `-` reads standard input",
    examples: [
      "toolyard run report.py --input year:=2026 --file sales.csv --out reports",
      "toolyard run sum.ts --json",
      'echo "print(2 ** 10)" | toolyard run - --language python',
    ],
    options: [
      ...REMOTE,
      new Option("-l, --language <language>", "language of the code, if the file name does not show it").choices([
        "python",
        "javascript",
        "typescript",
      ]),
      new Option(
        "-i, --input <value>",
        "value of the variable `inputs`: key=value, key:=json, or one JSON object; repeatable",
      ).argParser(collect),
      new Option("-f, --file <path>", "a file that the code may read, or name=path; repeatable").argParser(collect),
      new Option("-o, --out <folder>", "folder for the files that the code writes"),
      new Option("--timeout <duration>", "end the code after this long (default: `timeout` of [sandbox])"),
    ],
    load: () => import("../commands/run.ts"),
  },
  {
    usage: "resource <uri>",
    summary: "read a resource",
    examples: ["toolyard resource text://alphabet/greek", "toolyard resource text://alphabet/greek --json"],
    options: [...REMOTE, TIMEOUT],
    load: () => import("../commands/resource.ts"),
  },
  {
    usage: "prompt <name> [arguments...]",
    summary: "get a prompt: arguments as JSON or as key=value",
    examples: ["toolyard prompt everything__args-prompt city=Paris"],
    options: [...REMOTE, TIMEOUT],
    load: () => import("../commands/prompt.ts"),
  },
  {
    usage: "status",
    summary: "show the sources of a running hub, the shared one first: state, last error, last stderr lines, restarts",
    examples: ["toolyard status", "toolyard status --url http://127.0.0.1:9000/mcp --json"],
    options: REMOTE,
    load: () => import("../commands/status.ts"),
  },
  {
    usage: "config",
    summary: "show the value of every option and where it was set; secrets are masked",
    examples: ["toolyard config", "toolyard config --schema > toolyard.schema.json"],
    options: [...LOCAL, new Option("--schema", "print the JSON Schema of the configuration instead")],
    load: () => import("../commands/config.ts"),
  },
  {
    usage: "check",
    summary: "check the configuration and connect once to every source",
    examples: ["toolyard check", "toolyard check --config mcp.json --json"],
    options: [
      CONFIG,
      new Option("-y, --yes", "accept what the toolyard.toml of this folder starts, and repair broken downloads"),
      JSON_OUT,
      VERBOSE,
      TIMEOUT,
    ],
    load: () => import("../commands/check.ts"),
  },
  {
    usage: "doctor",
    summary: "check this machine: runtimes, limits, folders, port",
    examples: ["toolyard doctor", "toolyard doctor --json"],
    options: LOCAL,
    load: () => import("../commands/doctor.ts"),
  },
  {
    usage: "init",
    summary: "write a commented toolyard.toml",
    examples: ["toolyard init", "toolyard init --output ~/.config/toolyard/toolyard.toml"],
    options: [
      new Option("-o, --output <file>", "file to write (default: ./toolyard.toml)"),
      new Option("--force", "overwrite an existing file"),
      JSON_OUT,
    ],
    load: () => import("../commands/init.ts"),
  },
  {
    usage: "import [files...]",
    summary: "import servers from the configuration files of desktop clients and editors",
    examples: ["toolyard import", "toolyard import ~/.cursor/mcp.json --write"],
    options: [
      new Option("-o, --output <file>", "the toolyard.toml to add to (default: ./toolyard.toml)"),
      new Option("--write", "write the result; without this option it is only shown"),
      YES,
      JSON_OUT,
    ],
    load: () => import("../commands/import.ts"),
  },
];

/** Commands that the help lists after those about tools. */
const BESIDE: readonly CommandRow[] = [
  {
    usage: "chat",
    summary: "talk to a model that uses the tools",
    examples: [
      "toolyard chat --model mistral/mistral-large-latest",
      'toolyard chat --model ollama/qwen3 --once "What is the weather in Tokyo?"',
      "toolyard chat --url http://127.0.0.1:8808/mcp",
      'toolyard chat --once "Compare the reports of all years" --task',
    ],
    options: [
      ...REMOTE,
      new Option("-m, --model <provider/name>", "model to talk to (default: `language` of [models])"),
      new Option("--once <question>", "answer one question and end; print only the answer"),
      new Option("--max-iterations <count>", "maximum number of model requests for one answer (default: 5)"),
      new Option("--task", "with --once: let a running hub answer as a task, print the task, and end"),
      TIMEOUT,
    ],
    load: () => import("../commands/chat.ts"),
  },
  {
    usage: "services [names...]",
    summary: "run the services datetime, web-search, weather and geocoding as MCP servers; gnn and library by name",
    examples: [
      "toolyard services",
      "toolyard services weather geocoding --port weather=6000",
      "toolyard services ddgs-mcp datetime-mcp",
      "toolyard services datetime --stdio",
      "toolyard services gnn",
      "toolyard services --only weather --hub",
    ],
    options: [
      new Option("--only <names>", "comma-separated names, like the arguments"),
      new Option("--host <host>", "address to listen on (default: 127.0.0.1)"),
      new Option(
        "--port <port>",
        "first of consecutive ports, 0 for free ones; or name=port for one; repeatable (default: 50051)",
      ).argParser(collect),
      new Option("--insecure", "listen beyond this machine without a token"),
      new Option("--hub [url]", "let weather ask the hub for coordinates (default: http://127.0.0.1:8808/mcp)"),
      TOKEN_ENV,
      new Option("--stdio", "speak MCP on standard input and output instead of HTTP; one service only"),
      JSON_OUT,
    ],
    load: () => import("../commands/services.ts"),
  },
];

/**
 * Returns every command, in the order of the help. Returns only the command at the start of the command line if this
 * file contains it, because creating all commands takes longer than running most of them.
 */
export async function commandRows(words: readonly string[] = []): Promise<readonly CommandRow[]> {
  const asked = [...OF_THE_HUB, ...BESIDE].find(({ usage }) => usage.split(" ", 1)[0] === words[0]);
  if (asked) return [asked];
  const { furtherRows } = await import("./further-rows.ts");
  const { setup, last } = furtherRows({
    config: CONFIG,
    yes: YES,
    json: JSON_OUT,
    verbose: VERBOSE,
    timeout: TIMEOUT,
    tokenEnv: TOKEN_ENV,
    url: URL,
  });
  return [...OF_THE_HUB, ...setup, ...BESIDE, ...last];
}

function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}
