import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard extras`: parts of the program that are installed on demand. */
export function extrasRow(json: Option): CommandRow {
  return {
    usage: "extras",
    summary:
      "manage the parts that are installed on demand (Python for the sandbox, models, OCR, …): add, list, remove",
    examples: ["toolyard extras list", "toolyard extras add python"],
    options: [],
    commands: [
      {
        usage: "add <names...>",
        summary: "ask, then download parts to the data folder; exit code 1 or above if one fails",
        examples: ["toolyard extras add python", "toolyard extras add models ocr --yes"],
        options: [new Option("-y, --yes", "download without asking"), json],
        load: async () => ({ run: (await import("../commands/extras.ts")).add }),
      },
      {
        usage: "list",
        summary: "list all parts with their purpose and location",
        examples: ["toolyard extras list --json"],
        options: [json],
        load: async () => ({ run: (await import("../commands/extras.ts")).list }),
      },
      {
        usage: "remove <names...>",
        summary: "remove parts from the data folder",
        examples: ["toolyard extras remove ocr"],
        options: [json],
        load: async () => ({ run: (await import("../commands/extras.ts")).remove }),
      },
    ],
  };
}
