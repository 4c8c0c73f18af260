import { NameBook } from "../core/names/name-book.ts";
import { DEFAULT_NAMING, type NameParts } from "../core/names/names.ts";

/**
 * Names of tools that every vendor accepts (up to 64 characters of `[A-Za-z0-9_-]`), and the reverse mapping. The same
 * list always results in the same names.
 */
export interface ToolNames {
  /** Returns the name under which a model receives the tool `tool` of the list. */
  toModel(tool: string): string;
  /** Returns the tool with this name, in the model's or the hub's spelling; undefined if there is none. */
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
