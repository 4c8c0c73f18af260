import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard tokens`, with the options of commands on the configuration. */
export function tokensRow(local: readonly Option[]): CommandRow {
  return {
    usage: "tokens",
    summary: "show what the tool lists cost a model, by client, source and tool, and in discovery mode",
    examples: ["toolyard tokens", "toolyard tokens --limit 50 --json"],
    options: [...local, new Option("-n, --limit <count>", "maximum number of tools to show").default("10")],
    load: () => import("../commands/tokens.ts"),
  };
}
