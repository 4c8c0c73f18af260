import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard service`: commands that run the hub as a service of the user. */
export function serviceRow([config, yes, json]: readonly [Option, Option, Option]): CommandRow {
  const dryRun = new Option("--dry-run", "only show the file and the commands");
  return {
    usage: "service",
    summary: "run the hub as a service of the user (systemd, launchd, Task Scheduler): install, uninstall, status",
    examples: ["toolyard service install", "toolyard service status"],
    options: [],
    commands: [
      {
        usage: "install",
        summary: "start the hub now and at each log-in, with the current configuration",
        examples: ["toolyard service install", "toolyard service install --port 9000 --dry-run"],
        options: [config, yes, new Option("--port <port>", "port to listen on"), dryRun, json],
        load: async () => ({ run: (await import("../commands/service.ts")).install }),
      },
      {
        usage: "uninstall",
        summary: "stop the service and remove it; the configuration stays",
        examples: ["toolyard service uninstall"],
        options: [dryRun, json],
        load: async () => ({ run: (await import("../commands/service.ts")).uninstall }),
      },
      {
        usage: "status",
        summary: "show whether the service is installed and runs; exit code 0 if it runs",
        examples: ["toolyard service status --json"],
        options: [json],
        load: async () => ({ run: (await import("../commands/service.ts")).status }),
      },
    ],
  };
}
