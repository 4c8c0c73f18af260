import { lstatSync } from "node:fs";
import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { stringifyExact } from "../core/json/exact-json.ts";
import { canonicalJson, contentDigest } from "../core/json/digest.ts";
import { isJsonObject, type JsonObject } from "../core/json/json.ts";
import { valuesOf, type OptionSchema, type SourceTable } from "../core/options/option-schema.ts";
import type { Starts } from "../core/sources/table-facts.ts";
import { ConfigError } from "../core/errors.ts";
import { readDocument } from "./document.ts";
import { takenInto } from "./expand.ts";
import { entriesOf } from "./source-tables.ts";
import { firstChars } from "../core/text/truncate.ts";
import { readText } from "../files/read-text.ts";

/** A configuration file that another user may have written, and its effects on this machine. */
export interface ForeignFile {
  /**
   * Path of the file, in a folder without links: relative paths in the file start from this folder, even if the file is
   * a link.
   */
  readonly path: string;
  /** Reason why the file may belong to another user, as the end of a sentence about the file. */
  readonly why: string;
  /**
   * One line for each program that the file starts, each file that it writes, and each URL to which it sends local
   * data. Values of environment variables are not included.
   */
  readonly starts: readonly string[];
  /** Digest of all values that determine these effects. */
  readonly digest: string;
}

/**
 * Returns the effects of a file if another user owns it, or if it is inside a work tree of a version control system:
 * such a file may have come with a folder intended only for reading. Returns `undefined` for a file without effects, a
 * file that clearly belongs to the user, and an unreadable file, which the loader reports. Rejects for every other
 * failure, so that a failure never makes a file count as safe.
 */
export async function foreignFile(file: string, schema: OptionSchema): Promise<ForeignFile | undefined> {
  const path = join(await realpath(dirname(file)), basename(file));
  const why = await whyForeign(path);
  if (why === undefined) return undefined;
  const document = await readDocument(file).catch(ignoreConfigError);
  if (!document) return undefined;
  const starts = startsIn({ value: document.tree, root: document.tree, path: [] }, schema);
  if (starts.length === 0) return undefined;
  const decides = starts.map(({ name, decides: values }) => [name, values] as const);
  return {
    path,
    why,
    starts: starts.map(({ name, told }) => onOneLine(`[${name}] ${told}`)),
    digest: contentDigest(canonicalJson(decides.toSorted(([a], [b]) => (a < b ? -1 : 1)))),
  };
}

function ignoreConfigError(error: unknown): undefined {
  if (!(error instanceof ConfigError)) throw error;
}

/** Returns why a file may belong to another user. Checks both the link's own folder and its target. */
async function whyForeign(path: string): Promise<string | undefined> {
  const owners = [(await lstat(path)).uid, (await stat(path)).uid];
  if (process.getuid && owners.some((uid) => uid !== process.getuid?.())) return "belongs to another user";
  const system = [path, await realpath(path)].map(workTreeOf).find((one) => one !== undefined);
  return system === undefined ? undefined : `is inside of a ${system} work tree`;
}

/** Entries that version control systems create in the folder of a work tree. */
const WORK_TREE_MARKS: Readonly<Record<string, string>> = {
  ".git": "git",
  ".hg": "Mercurial",
  ".svn": "Subversion",
  ".jj": "Jujutsu",
  ".bzr": "Bazaar",
  ".pijul": "Pijul",
  _darcs: "Darcs",
  ".fslckout": "Fossil",
  _FOSSIL_: "Fossil",
};

function workTreeOf(path: string): string | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = Object.entries(WORK_TREE_MARKS).find(([mark]) => isThere(join(folder, mark)));
    if (found) return found[1];
    if (folder === dirname(folder)) return undefined;
  }
}

/** Returns whether the path exists, also if it is a broken link. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Maximum length of a line about one program, in characters. */
const MAX_LINE_CHARS = 500;

/** Returns text as one line, so that one program cannot look like two or hide text. */
function onOneLine(text: string): string {
  const line = text.replaceAll(/[\r\n\u2028\u2029\v\f]/g, (end) => JSON.stringify(end).slice(1, -1));
  const more = line.length - MAX_LINE_CHARS;
  return more > 0 ? `${firstChars(line, MAX_LINE_CHARS)} … and ${more} more characters` : line;
}

/** Values in one table that determine programs, files and requests. */
interface AcceptedTable {
  readonly name: string;
  readonly decides: JsonObject;
  readonly told: string;
}

/**
 * Returns the values in a tree that determine programs, files and requests, according to its schema. Disabled sources
 * are omitted.
 */
function startsIn(at: TreePosition, schema: OptionSchema): readonly AcceptedTable[] {
  const { value, root, path } = at;
  const { "~table": facts, "~sources": table, properties = {} } = schema;
  const own = facts?.starts
    ? tablesAt(value, table, path).flatMap((one) => startOf(withReferences(one, facts.starts!, root), facts.starts!))
    : [];
  if (table || !isJsonObject(value)) return own;
  const below = (name: string): TreePosition => ({ value: value[name], root, path: [...path, name] });
  const inner = Object.entries(properties).flatMap(([key, member]) =>
    spellings(key, member).flatMap((name) => startsIn(below(name), member)),
  );
  const entry = valuesOf(schema);
  const named = entry ? Object.keys(value).filter((name) => !Object.hasOwn(properties, name)) : [];
  return [...own, ...inner, ...named.flatMap((name) => startsIn(below(name), entry!))];
}

/** A value in the tree of a file. */
interface TreePosition {
  readonly value: unknown;
  readonly root: JsonObject;
  readonly path: readonly string[];
}

function spellings(key: string, { "~table": facts }: OptionSchema): readonly string[] {
  return facts?.formerly === undefined ? [key] : [key, facts.formerly];
}

interface WrittenTable {
  readonly name: string;
  readonly value: JsonObject;
}

function tablesAt(value: unknown, table: SourceTable | undefined, path: readonly string[]): readonly WrittenTable[] {
  const all = table
    ? entriesOf(value, table).map((entry) => ({ name: [...path, entry.name].join("."), value: entry.value }))
    : [{ name: path.join("."), value }];
  return all.flatMap(({ name, value: written }) =>
    isJsonObject(written) && !(table && written["enabled"] === false) ? [{ name, value: written }] : [],
  );
}

/** Replaces a value that names another option with the value of that option, if that is set. */
function withReferences({ name, value }: WrittenTable, { refersTo = {} }: Starts, root: JsonObject): WrittenTable {
  const changed = { ...value };
  for (const [key, { value: reference, path }] of Object.entries(refersTo)) {
    const target = path.reduce<unknown>((inner, step) => (isJsonObject(inner) ? inner[step] : undefined), root);
    if (value[key] === reference && target !== undefined) changed[key] = target;
  }
  return { name, value: changed };
}

function startOf({ name, value }: WrittenTable, starts: Starts): readonly AcceptedTable[] {
  const { keys, shownKeys, between = ", ", usual, before, sendsTo } = starts;
  const taken = sendsTo ? Array.from(new Set(takenInto(value))) : [];
  const written = shownKeys.flatMap((key) => value[key] ?? []).map(textOf);
  const words = sendsTo ? written.map(placeIn) : written;
  const all = [
    words.length > 0 ? [before, words.join(between)].filter((part) => part !== undefined).join(" ") : usual,
    taken.length > 0 ? `sends ${taken.join(", ")} to ${placesIn(value, sendsTo)}` : undefined,
  ].filter((line) => line !== undefined);
  if (all.length === 0) return [];
  const decides = keys ? Object.fromEntries(keys.map((key) => [key, value[key]])) : value;
  return [{ name, decides: taken.length > 0 ? { ...decides, taken } : decides, told: all.join("; ") }];
}

function placesIn(value: JsonObject, keys: readonly string[] = []): string {
  const places = keys.flatMap((key) => value[key] ?? []).map((place) => placeIn(textOf(place)));
  return places.length > 0 ? places.join(", ") : "its usual address";
}

/** Returns a value as written. It may be an object such as `{ file = … }`, which every option accepts. */
function textOf(value: unknown): string {
  return typeof value === "object" && value !== null ? stringifyExact(value) : String(value);
}

/** Returns only the host of a URL, because the rest may contain keys; other text is unchanged. */
function placeIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && url.host !== "" ? `${url.protocol}//${url.host}` : text;
}

/** Maximum number of accepted files. The oldest are dropped first. */
const MAX_ACCEPTED = 1000;

/** Record of the accepted files, with the digests of their effects, in the data folder. */
export class AcceptedFiles {
  readonly #file: string;

  constructor(dataFolder: string) {
    this.#file = join(dataFolder, "accepted-files.json");
  }

  async has({ path, digest }: Pick<ForeignFile, "path" | "digest">): Promise<boolean> {
    return (await this.#read()).get(path) === digest;
  }

  /**
   * Records a file as accepted. Rejects with the system's error, or a `ConfigError`, if the record cannot be written.
   */
  async accept({ path, digest }: Pick<ForeignFile, "path" | "digest">): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
    // Most commands only read the list, so the code for writing is loaded when a file is accepted.
    const { withFileLock } = await import("../files/file-lock.ts");
    const { replaceFile } = await import("./edit/replace-file.ts");
    await withFileLock(`${this.#file}.lock`, async () => {
      const accepted = await this.#read();
      if (accepted.get(path) === digest) return;
      accepted.delete(path);
      accepted.set(path, digest);
      const kept = [...accepted].slice(-MAX_ACCEPTED);
      await replaceFile(this.#file, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
    });
  }

  /** Reads the record. An unreadable record counts as empty. */
  async #read(): Promise<Map<string, string>> {
    const text = await readText(this.#file).catch(() => "{}");
    try {
      const parsed: unknown = JSON.parse(text);
      const entries = isJsonObject(parsed) ? Object.entries(parsed) : [];
      return new Map(entries.flatMap(([path, digest]) => (typeof digest === "string" ? [[path, digest]] : [])));
    } catch {
      return new Map();
    }
  }
}
