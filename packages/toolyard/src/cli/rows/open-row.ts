import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard open`, with the options of commands for a running hub. */
export function openRow(remote: readonly Option[]): CommandRow {
  return {
    usage: "open",
    summary: "open the console of a running hub in the browser, signed in with the token of this command",
    examples: ["toolyard open", "toolyard open --no-browser", "toolyard open --url https://hub.example.com/mcp"],
    options: [...remote, new Option("--no-browser", "print the address instead of opening it")],
    load: () => import("../commands/open.ts"),
  };
}
