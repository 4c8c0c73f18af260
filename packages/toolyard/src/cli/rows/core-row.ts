import { InvalidArgumentError, Option } from "commander";
import type { CommandRow } from "./command-row.ts";

const LOG_LEVEL = new Option("--log-level <level>", "level of the log on standard error").choices([
  "debug",
  "info",
  "warning",
  "error",
]);

/** Returns `toolyard core`: the commands of the core server, with the names in its document (G40 to G47). */
export function coreRow(shared: readonly Option[]): CommandRow {
  const options = [...shared, LOG_LEVEL];
  return {
    usage: "core",
    summary: "the core server: its tools and resources, and its transports",
    examples: [
      "toolyard core list",
      'toolyard core execute text.count --params \'{"text":"to be"}\'',
      "toolyard core server --transport http",
    ],
    options,
    commands: [
      {
        usage: "list",
        summary: "list available MCP tools and resources",
        examples: ["toolyard core list"],
        options,
        load: async () => ({ run: (await import("../commands/core.ts")).list }),
      },
      {
        usage: "execute <tool_name>",
        summary: "execute an MCP tool",
        examples: ['toolyard core execute text.count --params \'{"text":"to be"}\''],
        options: [...options, new Option("--params <json>", "JSON string of parameters for the tool").default("{}")],
        load: async () => ({ run: (await import("../commands/core.ts")).execute }),
      },
      {
        usage: "resource <uri>",
        summary: "get an MCP resource",
        examples: ["toolyard core resource text://alphabet/greek"],
        options,
        load: async () => ({ run: (await import("../commands/core.ts")).resource }),
      },
      {
        usage: "server",
        summary: "start the MCP server",
        examples: ["toolyard core server", "toolyard core server --transport http --port 8080"],
        options: [
          ...options,
          new Option("--transport <type>", "server transport type").choices(["stdio", "http"]).default("stdio"),
          new Option("--host <host>", "host for HTTP server").default("127.0.0.1"),
          new Option("--port <port>", "port for HTTP server; 0 takes a free one").default(8080).argParser(readPort),
        ],
        load: async () => ({ run: (await import("../commands/core.ts")).server }),
      },
    ],
  };
}

function readPort(text: string): number {
  const port = Number(text);
  if (text.trim() !== "" && Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}
