import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";

/** Returns the commands for a whole library. */
export function libraryMoves(shared: readonly Option[]): CommandRow[] {
  return [
    {
      usage: "export <file>",
      summary: "write documents, passages and vectors to one file, with its digest",
      examples: ["toolyard library export books.jsonl"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library-moves.ts")).exportTo }),
    },
    {
      usage: "import <file>",
      summary: "import a file of `export`; an incomplete file is refused as a whole",
      examples: ["toolyard library import books.jsonl"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library-moves.ts")).importFrom }),
    },
    {
      usage: "move",
      summary:
        "copy the library to another store and compare the results of fifty questions; exit code 1 if they differ",
      examples: ["toolyard library move --to postgres://me:secret@db.example.com/books?collection=scholars"],
      options: [
        new Option("--to <address>", "sqlite:///…, postgres://… or weaviate+http://…").makeOptionMandatory(),
        ...shared,
      ],
      load: async () => ({ run: (await import("../commands/library-moves.ts")).move }),
    },
    {
      usage: "doctor",
      summary: "check the library; exit code 1 if there are problems",
      examples: ["toolyard library doctor --repair"],
      options: [new Option("--repair", "rebuild indexes and counts"), ...shared],
      load: async () => ({ run: (await import("../commands/library-moves.ts")).doctor }),
    },
    {
      usage: "stats",
      summary: "show the size of the library, with pages by author and by year",
      examples: ["toolyard library stats"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library-moves.ts")).stats }),
    },
    {
      usage: "backup <file>",
      summary: "copy the library's file while it is in use",
      examples: ["toolyard library backup saved.db"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library-moves.ts")).backup }),
    },
  ];
}
