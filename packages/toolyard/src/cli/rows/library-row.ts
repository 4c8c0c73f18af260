import { Option } from "commander";
import type { CommandRow } from "./command-row.ts";
import { libraryMoves } from "./library-moves-row.ts";

const AUTHOR = new Option("--author <name>", "only works by this author; part of the name is enough");
const WORK = new Option("--work <title>", "only this work");
const LANGUAGE = new Option("--language <code>", "only works in this language: en, fr");

/** Returns `toolyard library`: commands that read, search and quote documents. */
export function libraryRow(shared: readonly Option[]): CommandRow {
  return {
    usage: "library",
    summary:
      "manage the document library: add, search, list, show, watch, remove, renew, move, export, doctor, stats, eval",
    examples: ["toolyard library add books/", 'toolyard library search "What is nominalism?" --author Peirce'],
    options: [],
    commands: [...mainRows(shared), ...documentRows(shared), ...libraryMoves(shared), ...measureRows(shared)],
  };
}

/** Returns the commands that add, find and list documents. */
function mainRows(shared: readonly Option[]): CommandRow[] {
  return [
    {
      usage: "add <paths...>",
      summary: "add files, all files of folders, and https addresses; exit code 1 if one cannot be read",
      examples: ["toolyard library add books/", 'toolyard library add clear.pdf --author "C. S. Peirce" --year 1878'],
      options: [
        new Option("--title <title>", "replaces the value in the file"),
        new Option("--author <name>", "replaces the value in the file"),
        new Option("--year <year>", "replaces the value in the file"),
        new Option("--language <code>", "replaces the language detected in the text"),
        new Option("--ocr <when>", "OCR of images with text: auto, off or force (every page)").choices([
          "auto",
          "off",
          "force",
        ]),
        new Option("--collection <name>", "collection of the store; created if it is missing"),
        ...shared,
      ],
      load: async () => ({ run: (await import("../commands/library.ts")).add }),
    },
    {
      usage: "search <words...>",
      summary: "show the passages that answer a question; exit code 1 if there are none",
      examples: ['toolyard library search "What is nominalism?" --author Peirce --limit 3'],
      options: [
        new Option("--limit <count>", "passages, from 1 to 500").default("5"),
        AUTHOR,
        WORK,
        LANGUAGE,
        ...shared,
      ],
      load: async () => ({ run: (await import("../commands/library.ts")).search }),
    },
    {
      usage: "list",
      summary: "list the documents, sorted by author and title",
      examples: ["toolyard library list --author Peirce"],
      options: [
        new Option("--limit <count>", "documents, from 1 to 500").default("100"),
        AUTHOR,
        WORK,
        LANGUAGE,
        ...shared,
      ],
      load: async () => ({ run: (await import("../commands/library.ts")).list }),
    },
    {
      usage: "watch <folders...>",
      summary: "add files of folders when they appear or change, until Ctrl+C",
      examples: ["toolyard library watch books/"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library.ts")).watch }),
    },
  ];
}

/** Returns the commands that measure quality and speed of the search. */
function measureRows(shared: readonly Option[]): CommandRow[] {
  return [
    {
      usage: "eval",
      summary: "measure the search with judged questions; exit code 1 if search by meaning is worse than by words",
      examples: ["toolyard library eval --beir scifact/"],
      options: [
        new Option(
          "--beir <folder>",
          "a collection in BEIR's layout: corpus.jsonl, queries.jsonl, qrels/test.tsv",
        ).makeOptionMandatory(),
        new Option("--language <code>", "of its texts").default("en"),
        ...shared,
      ],
      load: async () => ({ run: (await import("../commands/library.ts")).evaluateOn }),
    },
    {
      usage: "bench",
      summary: "measure the speed of the search on this machine",
      examples: ["toolyard library bench"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library.ts")).bench }),
    },
  ];
}

/** Returns the commands for existing documents. */
function documentRows(shared: readonly Option[]): CommandRow[] {
  return [
    {
      usage: "show <id>",
      summary: "show the metadata and outline of a document",
      examples: ["toolyard library show how_to_make_our_ideas_clear"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library.ts")).show }),
    },
    {
      usage: "remove <ids...>",
      summary: "remove documents from the library; their files stay",
      examples: ["toolyard library remove how_to_make_our_ideas_clear"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library.ts")).remove }),
    },
    {
      usage: "renew",
      summary:
        "read the files of documents again that another version of Toolyard read; exit code 1 if one cannot be read",
      examples: ["toolyard library renew --dry-run", "toolyard library renew --collection scholars"],
      options: [
        new Option("--collection <name>", "only this collection; without it, all collections of the store"),
        new Option("--dry-run", "list the documents, and read none"),
        ...shared,
      ],
      load: async () => ({ run: (await import("../commands/library.ts")).renew }),
    },
    {
      usage: "reindex",
      summary: "create the vectors of all passages again, if the status reports vectors of another version",
      examples: ["toolyard library reindex"],
      options: shared,
      load: async () => ({ run: (await import("../commands/library.ts")).reindex }),
    },
  ];
}
