import type { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/**
 * Returns `toolyard schedules`: calls at set times of a running hub. `remote`: options of commands for a running hub.
 */
export function scheduleRow(remote: readonly Option[]): CommandRow {
  return {
    usage: "schedules",
    summary: "manage the calls that a running hub makes at set times: list, show, run, cancel",
    examples: ["toolyard schedules list", "toolyard schedules run nightly"],
    options: [],
    commands: [
      {
        usage: "list",
        summary: "list the schedules with their next time and last run",
        examples: ["toolyard schedules list", "toolyard schedules list --url http://127.0.0.1:9000/mcp --json"],
        options: remote,
        load: async () => ({ run: (await import("../commands/schedules.ts")).list }),
      },
      {
        usage: "show <name>",
        summary: "show the runs of a schedule with their results, newest first",
        examples: ["toolyard schedules show nightly --json"],
        options: remote,
        load: async () => ({ run: (await import("../commands/schedules.ts")).show }),
      },
      {
        usage: "run <name>",
        summary: "start a run of a schedule now",
        examples: ["toolyard schedules run nightly"],
        options: remote,
        load: async () => ({ run: (await import("../commands/schedules.ts")).run }),
      },
      {
        usage: "cancel <name>",
        summary: "cancel the unfinished runs of a schedule",
        examples: ["toolyard schedules cancel nightly"],
        options: remote,
        load: async () => ({ run: (await import("../commands/schedules.ts")).cancel }),
      },
    ],
  };
}
