import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard tasks`: the caller's tasks at a running hub. `remote`: options of commands for a running hub. */
export function taskRow(remote: readonly Option[]): CommandRow {
  return {
    usage: "tasks",
    summary: "manage calls that run on a hub while no client waits: list, show, wait, cancel",
    examples: ["toolyard tasks list", "toolyard call monthly_report year=2026 --task"],
    options: [],
    commands: [
      {
        usage: "list",
        summary: "list your tasks, newest first",
        examples: ["toolyard tasks list", "toolyard tasks list --url http://127.0.0.1:9000/mcp --json"],
        options: remote,
        load: async () => ({ run: (await import("../commands/tasks.ts")).list }),
      },
      {
        usage: "show <id>",
        summary: "show the state of a task, and its result once it is finished",
        examples: ["toolyard tasks show 0Zx4bqS2Yk2mVJpOiJp0XA"],
        options: remote,
        load: async () => ({ run: (await import("../commands/tasks.ts")).show }),
      },
      {
        usage: "wait <id>",
        summary: "wait for the end of a task, and print its result",
        examples: ["toolyard tasks wait 0Zx4bqS2Yk2mVJpOiJp0XA --timeout 10m"],
        options: [...remote, new Option("--timeout <duration>", "give up waiting after this long; the task goes on")],
        load: async () => ({ run: (await import("../commands/tasks.ts")).wait }),
      },
      {
        usage: "cancel <id>",
        summary: "cancel a task that is not finished",
        examples: ["toolyard tasks cancel 0Zx4bqS2Yk2mVJpOiJp0XA"],
        options: remote,
        load: async () => ({ run: (await import("../commands/tasks.ts")).cancel }),
      },
    ],
  };
}
