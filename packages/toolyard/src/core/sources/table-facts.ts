import type { ProviderKind } from "./provider-kinds.ts";

/** What a table of the configuration says of itself to those who read and write files, who know nothing of it. */
export interface TableFacts {
  /** Its lines in a new file: what it is for, and its most used options, commented out. */
  readonly sample?: string;
  /** The name that older files have in its place. */
  readonly formerly?: string;
  /**
   * Present: what it holds, or each entry of a table of sources, is run on this machine, writes files here, or sends
   * what is here elsewhere.
   */
  readonly starts?: Starts;
  /** Present: it names the places where tools lie on this machine. */
  readonly places?: ToolPlaces;
}

/** Which values of a table decide what is run, written or sent. */
export interface Starts {
  /** @default all of them */
  readonly keys?: readonly string[];
  /** Keys whose values tell a person what is run, in this order; none of them may hold a secret. */
  readonly told: readonly string[];
  /** What stands between these values. @default ", " */
  readonly between?: string;
  /** What is told where none of them is given. Absent: nothing is run then. */
  readonly usual?: string;
  /** What stands before these values where the table runs nothing, such as `appends to`. */
  readonly before?: string;
  /**
   * Present: values that come from variables and files go to the addresses under these keys. Their names are told, and
   * of an address who is behind it.
   */
  readonly sendsTo?: readonly string[];
}

/** An option that names folders or files with tools, as a path or a list of them. */
export interface ToolPlaces {
  readonly kind: ProviderKind;
  readonly key: string;
  /** What brings the tools of a folder, seen by the names in it; nothing where they are no tool of this kind. */
  readonly ofFolder: (names: readonly string[]) => BroughtBy | undefined;
  /** What brings the tool that a file belongs to; nothing where it is none of this kind. */
  readonly ofFile: (file: ToolFile) => BroughtBy | undefined;
}

/** The path that is named: of the file itself, of the folder that it lies in, or of the one around that. */
export type BroughtBy = "file" | "folder" | "parent";

export interface ToolFile {
  readonly name: string;
  /** Names in its folder, its own among them. */
  readonly beside: readonly string[];
  /** Of a program; empty for other files. */
  readonly text: string;
}
