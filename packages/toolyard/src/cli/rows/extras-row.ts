import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns `toolyard extras`: parts of the program that are installed on demand. */
export function extrasRow(json: Option): CommandRow {
  return {
    usage: "extras",
    summary: "parts that are installed on demand: Python for the sandbox, models, OCR, …: add, list, remove",
    examples: ["toolyard extras list", "toolyard extras add python"],
    options: [],
    commands: [
      {
        usage: "add <names...>",
        summary: "download parts into the data folder, after a question; exit code 1 or above if one fails",
        examples: ["toolyard extras add python", "toolyard extras add models ocr --yes"],
        options: [new Option("-y, --yes", "download without asking"), json],
        load: async () => ({ run: (await import("../commands/extras.ts")).add }),
      },
      {
        usage: "list",
        summary: "list all parts: what each is for, and where it is",
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
