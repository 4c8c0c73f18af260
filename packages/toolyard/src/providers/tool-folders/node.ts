import { readdirSync, readFileSync, realpathSync, statSync, type Dirent } from "node:fs";
import { join, relative } from "node:path";
import { formatBytes } from "../../core/text/bytes.ts";
import { codeOf } from "../../core/errors.ts";
import { isStamped, isYoung, looksLike, stampOf, statsOf, toStamp, type FileStamp } from "./file-stamp.ts";

/** Maximum size of a file that is read. */
const MAX_MANIFEST_BYTES = 256 * 1024;

/** A folder as its reader receives it. Names are sorted. */
export interface Folder {
  readonly path: string;
  /** Path from the root, with `/` between segments; empty for the root itself. */
  readonly place: string;
  /** The root with symbolic links resolved. */
  readonly realRoot: string;
  readonly depth: number;
  readonly files: readonly string[];
}

/** The text of a file, or the reason why there is none. */
export type ToolFileText = { readonly text: string } | { readonly problem: string };

export interface BuildResult<T> {
  /** Plain data. Two values are equal if their JSON texts are equal. */
  readonly value: T;
  /** Further paths. If one appears or changes, the folder is read again. */
  readonly alsoWatch?: readonly string[];
}

/**
 * Functions that create a value from each folder. They are called again only if one of the folder's inputs changed.
 */
export interface FolderReader<T> {
  /** Returns whether the value depends on the text of this file. */
  wants(fileName: string, folder: Pick<Folder, "files" | "depth">): boolean;
  /** Returns whether subfolders are read. */
  descends(folder: Folder): boolean;
  build(folder: Folder, texts: ReadonlyMap<string, ToolFileText>): BuildResult<T>;
}

/** Reason why a folder is not read. `place`: path relative to the root. */
export interface FolderProblem {
  readonly place: string;
  readonly message: string;
}

interface FolderPlace {
  /** Path from the root. */
  readonly place: string;
  readonly depth: number;
  /** Path of the root with symbolic links resolved. */
  readonly realRoot: string;
}

/** One folder with its last known state. */
export class FolderNode<T> {
  readonly path: string;
  readonly place: string;
  readonly depth: number;
  children: readonly FolderNode<T>[] = [];
  value: T | undefined;
  problems: readonly FolderProblem[] = [];
  isThere = false;
  #realRoot: string;
  #stamp: FileStamp | undefined;
  #files: readonly string[] = [];
  /** Stamps, by path, of all files and folders on which the value depends, except the folder itself. */
  #sources: ReadonlyMap<string, FileStamp | undefined> = new Map();
  #key: string | undefined;
  #isSettled = false;

  /** Creates a root, or the folder at `place` below one. */
  constructor(path: string, { place, depth, realRoot }: FolderPlace = { place: "", depth: 0, realRoot: path }) {
    this.path = path;
    this.place = place;
    this.depth = depth;
    this.#realRoot = realRoot;
  }

  /**
   * Checks the folder, and reads again what may have changed. Returns whether the value, the problems or the children
   * differ.
   */
  look(reader: FolderReader<T>, now: number): boolean {
    const stats = statsOf(this.path);
    if (!stats?.isDirectory()) return this.#lose();
    const isSameFolder = this.isThere && this.#isSettled && this.#stamp !== undefined && isStamped(stats, this.#stamp);
    if (isSameFolder && !this.#hasOtherSources()) return false;
    this.isThere = true;
    this.#stamp = toStamp(stats);
    const hasOtherEntries = !isSameFolder && this.#readEntries(reader);
    return this.#build(reader, now) || hasOtherEntries;
  }

  #lose(): boolean {
    const had = this.isThere;
    this.isThere = false;
    this.children = [];
    this.value = undefined;
    this.problems = [];
    this.#key = undefined;
    return had;
  }

  #hasOtherSources(): boolean {
    for (const [path, stamp] of this.#sources) if (!looksLike(path, stamp)) return true;
    return false;
  }

  #readEntries(reader: FolderReader<T>): boolean {
    const problems: FolderProblem[] = [];
    let entries: Dirent[] = [];
    try {
      if (this.depth === 0) this.#realRoot = realpathSync(this.path);
      entries = readdirSync(this.path, { withFileTypes: true });
    } catch (error) {
      problems.push({
        place: this.place,
        message: `The folder cannot be read (${codeOf(error) ?? "unknown reason"}). Check its rights.`,
      });
    }
    const files: string[] = [];
    const folders: string[] = [];
    for (const entry of entries.toSorted(byName)) {
      if (isFolder(entry, this.path)) this.#noteFolder(entry, folders, problems);
      else files.push(entry.name);
    }
    this.#files = files;
    const wasSame = JSON.stringify(problems) === JSON.stringify(this.problems);
    this.problems = problems;
    return this.#adopt(reader.descends(this.#view()) ? folders : []) || !wasSame;
  }

  #noteFolder(entry: Dirent, folders: string[], problems: FolderProblem[]): void {
    if (isPassedOver(entry.name)) return;
    if (entry.isSymbolicLink() && !this.#mayFollow(entry.name)) {
      problems.push({
        place: this.#placeOf(entry.name),
        message:
          "The symbolic link leads out of the tools folder, or back up. Name its target as a tools folder instead.",
      });
      return;
    }
    folders.push(entry.name);
  }

  #mayFollow(name: string): boolean {
    try {
      const real = realpathSync(join(this.path, name));
      const up = relative(real, realpathSync(this.path));
      const down = relative(this.#realRoot, real);
      const isAncestor = up === "" || !up.startsWith("..");
      return !isAncestor && down !== "" && !down.startsWith("..");
    } catch {
      return false;
    }
  }

  #adopt(names: readonly string[]): boolean {
    const known = new Map(this.children.map((child) => [child.path, child]));
    const next = names.map((name) => {
      const path = join(this.path, name);
      const place = { place: this.#placeOf(name), depth: this.depth + 1, realRoot: this.#realRoot };
      return known.get(path) ?? new FolderNode<T>(path, place);
    });
    for (const child of next) child.#realRoot = this.#realRoot;
    const isSame = next.length === this.children.length && next.every((child, index) => child === this.children[index]);
    this.children = next;
    return !isSame;
  }

  #placeOf(name: string): string {
    return this.place === "" ? name : `${this.place}/${name}`;
  }

  #view(): Folder {
    return { path: this.path, place: this.place, realRoot: this.#realRoot, depth: this.depth, files: this.#files };
  }

  // Stamps are taken before the texts are read, so that the next check detects a change between the two.
  #build(reader: FolderReader<T>, now: number): boolean {
    const view = this.#view();
    const names = this.#files.filter((name) => reader.wants(name, view));
    const sources = new Map(names.map((name) => [join(this.path, name), stampOf(join(this.path, name))]));
    const texts = new Map(names.map((name) => [name, readText(join(this.path, name))]));
    const { value, alsoWatch = [] } = reader.build(view, texts);
    for (const path of alsoWatch) sources.set(path, stampOf(path));
    this.#sources = sources;
    this.#isSettled = ![this.#stamp, ...sources.values()].some((stamp) => isYoung(stamp, now));
    const key = JSON.stringify(value);
    if (key === this.#key) return false;
    this.#key = key;
    this.value = value;
    return true;
  }
}

const PASSED_OVER = new Set(["node_modules", "__pycache__"]);

function isPassedOver(name: string): boolean {
  return name.startsWith(".") || PASSED_OVER.has(name);
}

function isFolder(entry: Dirent, parent: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return statsOf(join(parent, entry.name))?.isDirectory() ?? false;
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}

function readText(path: string): ToolFileText {
  try {
    const stats = statSync(path);
    // Anything but a file is refused, because reading a pipe would block forever.
    if (!stats.isFile()) return { problem: "It is not a file." };
    if (stats.size > MAX_MANIFEST_BYTES) return { problem: `It is larger than ${formatBytes(MAX_MANIFEST_BYTES)}.` };
    return { text: readFileSync(path, "utf8") };
  } catch (error) {
    return { problem: `It cannot be read (${codeOf(error) ?? "unknown reason"}). Check its rights.` };
  }
}
