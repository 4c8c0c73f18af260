import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard audit`: commands on the files that `[audit] file` names. */
export function auditRow([config, json]: readonly [Option, Option]): CommandRow {
  const file = new Option("--file <file>", "the audit file (default: `file` of [audit])");
  return {
    usage: "audit",
    summary: "search the audit of a hub, or verify that its lines were not changed",
    examples: ["toolyard audit search --since 1h --outcome failed", "toolyard audit verify"],
    options: [],
    commands: [
      {
        usage: "search",
        summary: "show the latest entries that match all filters; patterns may contain * and ?",
        examples: [
          "toolyard audit search --principal ann --tool 'github__*' --since 7d",
          "toolyard audit search --event sign_in --outcome denied --json",
          "toolyard audit search --follow",
        ],
        options: [
          config,
          file,
          new Option("--event <name>", "call, sign_in, approval, configuration, administration, loss"),
          new Option("--principal <pattern>", "id of the caller"),
          new Option("--client <pattern>", "name of the client program"),
          new Option("--tool <pattern>", "name of the tool, or URI of the resource"),
          new Option("--source <pattern>", "id of the source"),
          new Option("--outcome <code>", "outcome code, such as ok or timeout; or failed"),
          new Option("--since <time>", "from this time on: ISO 8601, or a duration such as 2h"),
          new Option("--until <time>", "up to this time"),
          new Option("-n, --limit <count>", "maximum number of entries to show").default("50"),
          new Option("-f, --follow", "show further entries as they are written, until Ctrl+C"),
          json,
        ],
        load: async () => ({ run: (await import("../commands/audit.ts")).search }),
      },
      {
        usage: "verify",
        summary: "verify the chain of hashes; exit code 1 if lines were changed, removed or inserted",
        examples: ["toolyard audit verify", "toolyard audit verify --file /var/log/toolyard/audit.jsonl"],
        options: [config, file, json],
        load: async () => ({ run: (await import("../commands/audit.ts")).verify }),
      },
    ],
  };
}
