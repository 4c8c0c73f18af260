import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Options that setup commands share with other commands. */
export interface SetupOptions {
  readonly config: Option;
  readonly yes: Option;
  readonly json: Option;
  readonly tokenEnv: Option;
}

/** Returns the commands that change the configuration files of Toolyard and of clients. */
export function setupRows(options: SetupOptions): readonly CommandRow[] {
  const { config, yes, json, tokenEnv } = options;
  return [
    {
      usage: "add <name> [source...]",
      summary: "add a server by its command or address, or a file or folder with tools, to toolyard.toml",
      examples: [
        "toolyard add memory -- npx -y @modelcontextprotocol/server-memory",
        "toolyard add docs https://docs.example.com/mcp --token-env DOCS_TOKEN",
        "toolyard add ./tools",
      ],
      options: [
        config,
        yes,
        new Option("-e, --env <key=value>", "environment variable of the server; repeatable").argParser(collect),
        new Option("--cwd <folder>", "working folder of the server (default: that of the file)"),
        new Option("-H, --header <header>", 'HTTP header, "Name: value"; repeatable').argParser(collect),
        tokenEnv,
        new Option("--ondemand", "do not list its tools; clients find them by search"),
        json,
      ],
      load: () => import("../commands/add.ts"),
    },
    {
      usage: "remove <name>",
      summary: "remove a server, a file or a folder with tools from toolyard.toml",
      examples: ["toolyard remove memory", "toolyard remove ./tools"],
      options: [config, yes, json],
      load: () => import("../commands/remove.ts"),
    },
    {
      usage: "enable <name>",
      summary: "switch a server on in toolyard.toml",
      examples: ["toolyard enable memory"],
      options: [config, yes, json],
      load: async () => ({ run: (await import("../commands/toggle.ts")).enable }),
    },
    {
      usage: "disable <name>",
      summary: "switch a server off in toolyard.toml and keep its settings",
      examples: ["toolyard disable memory"],
      options: [config, yes, json],
      load: async () => ({ run: (await import("../commands/toggle.ts")).disable }),
    },
    newRow(options),
    {
      usage: "prepare",
      summary: "install the packages that tools need: named in scripts, requirements.txt or package.json next to them",
      examples: ["toolyard prepare", "toolyard prepare --yes --json"],
      options: [
        config,
        new Option("-y, --yes", "accept what the toolyard.toml of this folder starts, and install without asking"),
        json,
      ],
      load: () => import("../commands/prepare.ts"),
    },
    ...clientRows(options),
  ];
}

function newRow({ config, json }: SetupOptions): CommandRow {
  return {
    usage: "new <tool>",
    summary: "write a working tool with its test, and add it to toolyard.toml",
    examples: ["toolyard new words", "toolyard new words --python", "toolyard new words --service"],
    options: [
      new Option("--python", "a script in Python"),
      new Option("--node", "a script in JavaScript (default)"),
      new Option("--ts", "a script in TypeScript"),
      new Option("--sh", "a shell script"),
      new Option("--module", "a function in the hub's own process"),
      new Option("--folder", "a function `execute` in Python with a separate description"),
      new Option("--service", "a separate MCP server"),
      config,
      json,
    ],
    load: () => import("../commands/new.ts"),
  };
}

function clientRows({ config, json, tokenEnv }: SetupOptions): readonly CommandRow[] {
  return [
    {
      usage: "connect [client]",
      summary:
        "add the hub to a client's configuration: claude, claude-code, cursor, vscode, windsurf, zed, codex, gemini, …",
      examples: ["toolyard connect", "toolyard connect cursor --dry-run", "toolyard connect claude --yes"],
      options: [
        config,
        new Option(
          "-y, --yes",
          "accept all suggestions: move its own servers to the hub, discovery mode above 40 tools",
        ),
        new Option("--dry-run", "only show what would be written"),
        new Option("--keep", "keep the client's own servers in its configuration"),
        new Option("--mode <mode>", "content of the client's lists").choices(["normal", "discovery", "all"]),
        new Option("--era <era>", "`legacy`: do not offer revision 2026-07-28 to the client").choices([
          "auto",
          "legacy",
        ]),
        new Option("--profile <name>", "connect the client to this profile of the configuration"),
        new Option("--http", "write the address of `toolyard serve` instead of a command"),
        new Option("--own", "start a separate hub for this client instead of the shared one"),
        tokenEnv,
        json,
      ],
      load: () => import("../commands/connect.ts"),
    },
    {
      usage: "disconnect [client]",
      summary: "undo `connect`: remove the hub from a client's configuration and restore its own servers",
      examples: ["toolyard disconnect cursor", "toolyard disconnect"],
      options: [
        new Option("-y, --yes", "accepted for scripts that pass it to every command; nothing is asked"),
        new Option("--dry-run", "only show what would be done"),
        json,
      ],
      load: () => import("../commands/disconnect.ts"),
    },
  ];
}

function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}
