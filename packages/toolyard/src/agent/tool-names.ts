import { NameBook } from "../core/names/name-book.ts";
import { DEFAULT_NAMING, type NameParts } from "../core/names/names.ts";

/**
 * Names of tools that every vendor takes (64 of `[A-Za-z0-9_-]`), and the way back. One list gives the same names each
 * time.
 */
export interface ToolNames {
  /** The model's name of a tool of the list. */
  toModel(tool: string): string;
  /** The tool that a model means, by either name; nothing for a name that no tool has. */
  fromModel(name: string): string | undefined;
}

interface NameRow extends NameParts {
  readonly name: string;
}

const SOURCE = { id: "hub", namespace: "" };

export function createToolNames(tools: readonly string[]): ToolNames {
  const rows = tools.map((name): NameRow => ({ source: SOURCE, name }));
  const book = new NameBook(rows, { naming: DEFAULT_NAMING, namedOf: (row) => row, mcpNameOf: (row) => row.name });
  const toModel = new Map(rows.map((row) => [row.name, book.nameOf(row, "model")]));
  const fromModel = new Map(Array.from(toModel, ([tool, name]) => [name, tool]));
  return {
    toModel: (tool) => toModel.get(tool) ?? tool,
    fromModel: (name) => {
      const exact = fromModel.get(name) ?? (toModel.has(name) ? name : undefined);
      if (exact !== undefined) return exact;
      const [row, ...others] = book.candidates(name);
      return others.length === 0 ? row?.name : undefined;
    },
  };
}
