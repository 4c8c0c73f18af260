import type { ProviderKind } from "./provider-kinds.ts";

/** Metadata of a configuration table, for code that edits files without knowing the table. */
export interface TableFacts {
  /** Lines for a new file: the purpose of the table, and its most used options as comments. */
  readonly sample?: string;
  /** Name of the table in older files. */
  readonly formerly?: string;
  /**
   * Present if values of the table, or of each entry of a table of sources, are run on this machine, name files that
   * are written, or send local data to another machine.
   */
  readonly starts?: Starts;
  /** Present if the table names the locations of tools on this machine. */
  readonly places?: ToolPlaces;
}

/** Values of a table that determine programs, files and requests. */
export interface Starts {
  /** Keys of these values. @default all keys */
  readonly keys?: readonly string[];
  /** Keys of the values that are shown to the user, in this order. None of them may hold a secret. */
  readonly shownKeys: readonly string[];
  /** Text between these values. @default ", " */
  readonly between?: string;
  /** Text that is shown if no value is given. Absent: without a value, nothing is run. */
  readonly usual?: string;
  /** Text before the shown values if the table does not run a program, such as `appends to`. */
  readonly before?: string;
  /**
   * Present if values from variables and files are sent to the addresses under these keys. The message shows the names
   * of the values, and only the host of an address.
   */
  readonly sendsTo?: readonly string[];
  /**
   * Values that select another option of the same file. That option is then shown, and its value is compared instead.
   */
  readonly refersTo?: Readonly<Record<string, OptionReference>>;
}

/** Value that selects another option. */
export interface OptionReference {
  readonly value: string;
  /** Path of the other option, from the root of the file. */
  readonly path: readonly string[];
}

/** Option that names folders or files with tools, as a path or a list of paths. */
export interface ToolPlaces {
  readonly kind: ProviderKind;
  readonly key: string;
  /**
   * Returns the path that adds the tools of a folder, decided by the file names in the folder. Returns `undefined` if
   * they are no tools of this kind.
   */
  readonly ofFolder: (names: readonly string[]) => BroughtBy | undefined;
  /** Returns the path that adds the tool of a file. Returns `undefined` if the file is no tool of this kind. */
  readonly ofFile: (file: ToolFile) => BroughtBy | undefined;
}

/** Path that the option must contain: the file itself, its folder, or the parent of its folder. */
export type BroughtBy = "file" | "folder" | "parent";

export interface ToolFile {
  readonly name: string;
  /** Names of all files in the same folder, including this file. */
  readonly siblings: readonly string[];
  /** Text of the file if it is a program; otherwise empty. */
  readonly text: string;
}
