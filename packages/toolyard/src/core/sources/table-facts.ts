import type { ProviderKind } from "./provider-kinds.ts";

/** Metadata of a config table, for code that edits config files without knowing the table. */
export interface TableFacts {
  /** Its lines in a new file: its purpose, and its most used options, commented out. */
  readonly sample?: string;
  /** The name that older files use for it. */
  readonly formerly?: string;
  /**
   * Present: its values, or each entry of a table of sources, are run on this machine, write files here, or send local
   * data to another machine.
   */
  readonly starts?: Starts;
  /** Present: it names the locations of tools on this machine. */
  readonly places?: ToolPlaces;
}

/** The values of a table that determine programs, files and requests. */
export interface Starts {
  /** @default all keys */
  readonly keys?: readonly string[];
  /** Keys with values that show the user the program, in this order; none of them may hold a secret. */
  readonly told: readonly string[];
  /** Text between these values. @default ", " */
  readonly between?: string;
  /** Text if no value is given. Absent: nothing is run then. */
  readonly usual?: string;
  /** Text before these values if the table runs nothing, such as `appends to`. */
  readonly before?: string;
  /**
   * Present: values from variables and files are sent to the addresses under these keys. The message shows their names,
   * and only the host of an address.
   */
  readonly sendsTo?: readonly string[];
}

/** An option that names folders or files with tools, as a path or a list of paths. */
export interface ToolPlaces {
  readonly kind: ProviderKind;
  readonly key: string;
  /**
   * Returns which path adds the tools of a folder, decided by the names in it; `undefined` if they are no tools of this
   * kind.
   */
  readonly ofFolder: (names: readonly string[]) => BroughtBy | undefined;
  /** Returns which path adds the tool of a file; `undefined` if it is no tool of this kind. */
  readonly ofFile: (file: ToolFile) => BroughtBy | undefined;
}

/** The path to name: the file itself, its folder, or the folder around that. */
export type BroughtBy = "file" | "folder" | "parent";

export interface ToolFile {
  readonly name: string;
  /** Names in its folder, including its own. */
  readonly beside: readonly string[];
  /** Text of a program; empty for other files. */
  readonly text: string;
}
