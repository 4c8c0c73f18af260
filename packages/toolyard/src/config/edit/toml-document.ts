import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { parseToml } from "../document.ts";
import { readPlaces, type TomlPlace } from "./toml-places.ts";
import { keyText, tableText, valueText } from "./toml-text.ts";
import { isWithin, withoutPath, withPath, type TreePath } from "./tree-path.ts";

/** A parsed TOML text, with its values and their positions. */
interface ReadText {
  readonly text: string;
  readonly tree: JsonObject;
  readonly places: readonly TomlPlace[];
}

/**
 * A TOML text that can be changed while everything else stays unchanged: comments, order, blank lines. Each change
 * returns a new document, which is parsed again first: a result with a different meaning is never returned. All methods
 * throw a `ConfigError` if the text has a form that cannot be edited safely.
 */
export class TomlDocument {
  readonly text: string;
  readonly tree: JsonObject;
  readonly #name: string;
  readonly #places: readonly TomlPlace[];

  private constructor(name: string, { text, tree, places }: ReadText) {
    this.#name = name;
    this.text = text;
    this.tree = tree;
    this.#places = places;
  }

  /** Parses a text. `name` names it in messages. Throws a `ConfigError` with line and column if it is not TOML. */
  static async parse(name: string, text: string): Promise<TomlDocument> {
    const tree = await parseToml(name, text);
    const { parse } = await import("smol-toml");
    const readKey = (key: string): readonly string[] => {
      const steps: string[] = [];
      for (let inner: unknown = parse(`${key} = 0`); isJsonObject(inner);) {
        const [step] = Object.keys(inner);
        steps.push(step!);
        inner = inner[step!];
      }
      return steps;
    };
    return new TomlDocument(name, { text, tree, places: readPlaces(text, readKey) });
  }

  /** Positions of the written values, in the order of the text. */
  get values(): readonly ValuePlace[] {
    return this.#places
      .filter(({ kind }) => kind !== "header")
      .map(({ path, valueStart: start, end }) => ({ path, start, end, isScalar: !/[[{]/.test(this.text[start]!) }))
      .toSorted((one, other) => one.start - other.start);
  }

  /** Returns whether the text itself has a value at this path. */
  has(path: TreePath): boolean {
    return this.#places.some((place) => isWithin(place.path, path));
  }

  /** Adds tables and entries of lists of tables at the end of the text. The resulting text is checked once. */
  async addAll(additions: readonly Addition[]): Promise<TomlDocument> {
    if (additions.length === 0) return this;
    let wanted = this.tree;
    const blocks = additions.map(({ path, table, comment, isEntry = false }) => {
      const place = isEntry ? [...path, String(listAt(wanted, path).length)] : path;
      wanted = withPath(wanted, place, table);
      const note = comment === undefined ? "" : `# ${comment}\n`;
      const header = isEntry ? `[[${keyText(path)}]]` : `[${keyText(path)}]`;
      return `${note}${header}\n${tableText(table)}`;
    });
    return this.#append(blocks.join("\n"), wanted);
  }

  /** Sets one key of an existing table. */
  async set(table: TreePath, key: string, value: unknown): Promise<TomlDocument> {
    const path = [...table, key];
    const there = this.#find(path);
    const text = valueText(value);
    const splice = there ? { start: there.valueStart, end: there.end, text } : this.#insertion(table, key, text);
    return this.#spliced([splice], withPath(this.tree, path, value));
  }

  /** Adds a value to a list in brackets. */
  async addValue(path: TreePath, value: unknown): Promise<TomlDocument> {
    const there = this.#find(path);
    const list = listAt(this.tree, path);
    if (!there || this.text[there.valueStart] !== "[") throw this.#refusal(path);
    const last = this.#find([...path, String(list.length - 1)]);
    const text = valueText(value);
    const splice = last
      ? { start: last.end, end: last.end, text: `, ${text}` }
      : { start: there.valueStart + 1, end: there.valueStart + 1, text };
    return this.#spliced([splice], withPath(this.tree, [...path, String(list.length)], value));
  }

  /** Removes the value at a path: a table with its subtables and the comment directly above it, a key, or an entry. */
  async remove(path: TreePath): Promise<TomlDocument> {
    return this.#spliced(this.#removal(path), withoutPath(this.tree, path));
  }

  /** Removes several tables. The text is checked only once if each table has its own lines. */
  async removeAll(paths: readonly TreePath[]): Promise<TomlDocument> {
    const isPlain = paths.every((path) => this.#linesOf(path).length > 0);
    if (isPlain) {
      const splices = merged(paths.flatMap((path) => this.#removal(path)));
      return this.#spliced(splices, paths.reduce<JsonObject>(withoutPath, this.tree));
    }
    const [first, ...others] = paths;
    return first ? (await this.remove(first)).removeAll(others) : this;
  }

  #removal(path: TreePath): readonly Splice[] {
    const lines = this.#linesOf(path);
    if (lines.length > 0) return this.#lineSplices(lines);
    const inner = this.#places.find(
      (place) => place.kind === "inner" && place.path.length === path.length && isWithin(place.path, path),
    );
    if (!inner) throw this.#refusal(path);
    return [this.#innerSplice(inner)];
  }

  #linesOf(path: TreePath): readonly TomlPlace[] {
    const own = this.#places.filter((place) => place.kind !== "inner" && isWithin(place.path, path));
    return own.toSorted((a, b) => a.start - b.start);
  }

  /**
   * Removes one key that `set` would add again. Returns `undefined` if a comment refers to the key, because it would be
   * removed too.
   */
  async unset(table: TreePath, key: string): Promise<TomlDocument | undefined> {
    const path = [...table, key];
    const place = this.#find(path);
    if (!place || place.kind === "header") return undefined;
    const splice = place.kind === "inner" ? this.#innerSplice(place) : this.#bareLine(place);
    return splice && this.#spliced([splice], withoutPath(this.tree, path));
  }

  #bareLine(place: TomlPlace): Splice | undefined {
    const [start, end] = [this.#lineStart(place.start), this.#lineEnd(place.end)];
    if (this.text.slice(place.end, end).trim() !== "" || this.#commentsAbove(start) < start) return undefined;
    return { start, end, text: "" };
  }

  #find(path: TreePath): TomlPlace | undefined {
    return this.#places.find((place) => place.path.length === path.length && isWithin(place.path, path));
  }

  #append(block: string, wanted: JsonObject): Promise<TomlDocument> {
    const before = this.text === "" ? "" : this.text.endsWith("\n") ? "\n" : "\n\n";
    return this.#spliced([{ start: this.text.length, end: this.text.length, text: before + block }], wanted);
  }

  /** Returns the position for a new key. */
  #insertion(table: TreePath, key: string, text: string): Splice {
    const there = this.#find(table);
    if (there && there.kind !== "header") return this.#innerInsertion(there, key, text);
    const pairs = this.#places.filter(({ kind, table: above }) => kind === "pair" && isSame(above, table));
    const last = pairs.at(-1) ?? there;
    if (last) return this.#lineBelow(last, `${keyText([key])} = ${text}`);
    // A table without a header has dotted keys, such as `files.command = "x"` below [mcp.stdio_servers].
    const dotted = this.#places.findLast(({ kind, path }) => kind === "pair" && isWithin(path, table));
    if (!dotted) throw this.#refusal(table);
    return this.#lineBelow(dotted, `${keyText([...table.slice(dotted.table.length), key])} = ${text}`);
  }

  #innerInsertion({ path, valueStart }: TomlPlace, key: string, text: string): Splice {
    if (this.text[valueStart] !== "{") throw this.#refusal(path);
    const pair = `${keyText([key])} = ${text}`;
    const last = this.#places.findLast(
      (place) => place.kind === "inner" && place.path.length > path.length && isWithin(place.path, path),
    );
    const at = last ? last.end : valueStart + 1;
    return { start: at, end: at, text: last ? `, ${pair}` : ` ${pair} ` };
  }

  #lineBelow(place: TomlPlace, line: string): Splice {
    const end = this.#lineEnd(place.end);
    const indent = /(?<![ \t])[ \t]*$/.exec(this.text.slice(0, place.start))![0];
    const before = end > 0 && this.text[end - 1] !== "\n" ? "\n" : "";
    return {
      start: end,
      end,
      text: `${before}${place.kind === "header" ? "" : indent}${line}\n`,
    };
  }

  #lineSplices(lines: readonly TomlPlace[]): readonly Splice[] {
    return lines.map((place) => {
      const start = this.#commentsAbove(this.#lineStart(place.start));
      const end = this.#lineEnd(place.end);
      if (place.kind === "pair" && !lines.some(({ kind, path }) => kind === "header" && isSame(path, place.table)))
        return { start, end, text: "" };
      const isLast = lines.findLast(({ table }) => isSame(table, place.table)) === place;
      return { start, end: isLast ? this.#blankBelow(this.#commentsBelow(end)) : end, text: "" };
    });
  }

  /** Returns the span of an entry of a list or inline table, including the separating comma. */
  #innerSplice(place: TomlPlace): Splice {
    const parent = place.path.slice(0, -1);
    const siblings = this.#places.filter(
      ({ kind, path }) => kind === "inner" && path.length === place.path.length && isWithin(path, parent),
    );
    const at = siblings.indexOf(place);
    const [before, after] = [siblings[at - 1], siblings[at + 1]];
    if (after) return { start: place.start, end: after.start, text: "" };
    return { start: before ? before.end : place.start, end: place.end, text: "" };
  }

  #lineStart(at: number): number {
    return this.text.lastIndexOf("\n", at - 1) + 1;
  }

  /** Returns the position after the line break at the end of this line, or the end of the text. */
  #lineEnd(at: number): number {
    const end = this.text.indexOf("\n", at);
    return end === -1 ? this.text.length : end + 1;
  }

  #commentsAbove(start: number): number {
    let at = start;
    while (at > 0) {
      const above = this.#lineStart(at - 1);
      if (!/^[ \t]*#/.test(this.text.slice(above, at))) break;
      at = above;
    }
    return at;
  }

  /**
   * Returns the end of the comments directly below the removed part, which are removed too. Comments directly above the
   * next part are kept.
   */
  #commentsBelow(end: number): number {
    let at = end;
    while (at < this.text.length && /^[ \t]*#/.test(this.text.slice(at, this.#lineEnd(at)))) at = this.#lineEnd(at);
    const next = this.text.slice(at, this.#lineEnd(at));
    return next.trim() === "" ? at : end;
  }

  #blankBelow(end: number): number {
    let at = end;
    while (at < this.text.length && this.text.slice(at, this.#lineEnd(at)).trim() === "") at = this.#lineEnd(at);
    return at;
  }

  async #spliced(splices: readonly Splice[], wanted: JsonObject): Promise<TomlDocument> {
    const lineBreak = this.text.includes("\r\n") ? "\r\n" : "\n";
    let text = this.text;
    for (const splice of splices.toSorted((a, b) => b.start - a.start))
      text = text.slice(0, splice.start) + splice.text.replaceAll("\n", lineBreak) + text.slice(splice.end);
    if (splices.some(({ text: added, end }) => added === "" && end === this.text.length)) text = withoutEmptyEnd(text);
    const changed = await TomlDocument.parse(this.#name, text).catch((error: unknown) => {
      if (error instanceof ConfigError) throw this.#refusal(undefined, error);
      throw error;
    });
    if (!isDeepStrictEqual(withoutEmpty(changed.tree), withoutEmpty(wanted))) throw this.#refusal();
    return changed;
  }

  #refusal(path?: TreePath, cause?: unknown): ConfigError {
    const what = path === undefined ? "it" : `\`${keyText(path)}\``;
    return new ConfigError(
      [
        `${this.#name}: ${what} has a form that cannot be edited automatically, such as \`mcp = { … ` +
          "}` in braces or `remote_servers = [ … ]` in brackets. Nothing was written. " +
          "Write servers as [mcp.stdio_servers.<name>] and [[mcp.remote_servers]], or edit the file by hand.",
      ],
      { cause },
    );
  }
}

/** Position of a value in the text. */
export interface ValuePlace {
  readonly path: TreePath;
  readonly start: number;
  readonly end: number;
  /** False for a list or table. */
  readonly isScalar: boolean;
}

/** A table that is added to the text. */
export interface Addition {
  readonly path: TreePath;
  readonly table: JsonObject;
  /** Comment above the table. */
  readonly comment?: string | undefined;
  /** True if the table is another entry of a list of tables. @default false */
  readonly isEntry?: boolean;
}

function listAt(tree: JsonObject, path: TreePath): readonly unknown[] {
  let value: unknown = tree;
  for (const step of path) value = isJsonObject(value) ? value[step] : undefined;
  return Array.isArray(value) ? value : [];
}

/** Merges overlapping removals, such as two with a common comment. */
function merged(splices: readonly Splice[]): readonly Splice[] {
  const all: Splice[] = [];
  for (const splice of splices.toSorted((one, other) => one.start - other.start)) {
    const last = all.at(-1);
    if (last && splice.start <= last.end) all[all.length - 1] = { ...last, end: Math.max(last.end, splice.end) };
    else all.push(splice);
  }
  return all;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function isSame(one: TreePath, other: TreePath): boolean {
  return one.length === other.length && isWithin(one, other);
}

/** Removes tables without keys, which have no effect. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isJsonObject(value) || value instanceof Date) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmpty(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => !isEmptyTable(member)));
}

function isEmptyTable(value: unknown): boolean {
  const isList = Array.isArray(value);
  return (isList || (isJsonObject(value) && !(value instanceof Date))) && Object.keys(value as object).length === 0;
}

/** Returns the text with one line break after the last non-empty line. */
function withoutEmptyEnd(text: string): string {
  const last = text.trimEnd();
  const lineBreak = /^[ \t]*(\r?\n)[^]*\n$/.exec(text.slice(last.length));
  return lineBreak
    ? `${text.slice(0, last.length)}${/^[ \t]*/.exec(text.slice(last.length))![0]}${lineBreak[1]}`
    : text;
}
