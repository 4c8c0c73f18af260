import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard top`, with the options of commands for a running hub. */
export function topRow(remote: readonly Option[]): CommandRow {
  return {
    usage: "top",
    summary: "show the busiest, slowest and failing tools and sources of a running hub, until Ctrl+C",
    examples: ["toolyard top", "toolyard top --once --json", "toolyard top --url http://127.0.0.1:9000/mcp --limit 5"],
    options: [
      ...remote,
      new Option("--once", "print the counts since the start of the hub and end"),
      new Option("-n, --limit <count>", "maximum number of rows of each table, at most 100").default("10"),
      new Option("--interval <duration>", "time between two readings, 500ms to 1m").default("2s"),
    ],
    load: () => import("../commands/top.ts"),
  };
}
