import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns the commands for the hub that clients of this user share. */
export function sharedHubRows([config, json]: readonly [Option, Option]): readonly CommandRow[] {
  return [
    {
      usage: "stop",
      summary: "stop the shared hub of this configuration, or the only one that runs",
      examples: ["toolyard stop", "toolyard stop --config ~/.config/toolyard/toolyard.toml"],
      options: [config, json],
      load: () => import("../commands/stop.ts"),
    },
    {
      usage: "log",
      summary: "show the last lines of the shared hub's log, even if it has ended",
      examples: ["toolyard log", "toolyard log --lines 200 --follow"],
      options: [
        config,
        new Option("-n, --lines <count>", "number of lines to show, at most 10000").default("50"),
        new Option("-f, --follow", "show further lines as they are written, until Ctrl+C"),
        json,
      ],
      load: () => import("../commands/log.ts"),
    },
  ];
}
