import type { Node } from "jsonc-parser";
import type { JsonObject } from "../../core/json/json.ts";
import { BYTE_ORDER_MARK } from "../document.ts";

/** Returns JSON with comments in which one entry of a table was set; every other line is unchanged. */
export function setInJson(text: string, place: readonly [string, string], entry: JsonObject): Promise<string> {
  return behindMark(text, (plain) => setIn(plain, place, entry));
}

/** Returns JSON text without some entries of a table. The text is parsed once for all entries. */
export function removeFromJson(text: string, table: string, names: readonly string[]): Promise<string> {
  return behindMark(text, (plain) => removeFrom(plain, table, new Set(names)));
}

async function behindMark(text: string, edit: (plain: string) => Promise<string>): Promise<string> {
  const [mark = ""] = BYTE_ORDER_MARK.exec(text) ?? [];
  return mark + (await edit(text.slice(mark.length)));
}

async function setIn(text: string, [table, name]: readonly [string, string], entry: JsonObject): Promise<string> {
  const { findNodeAtLocation, parseTree } = await import("jsonc-parser");
  const root = text.trim() === "" ? undefined : parseTree(text, [], { allowTrailingComma: true });
  if (!root) return `${JSON.stringify({ [table]: { [name]: entry } }, null, 2)}\n`;
  const there = findNodeAtLocation(root, [table, name]);
  if (there) {
    const written = JSON.stringify(entry, null, unitOf(text)).replaceAll(
      "\n",
      `\n${indentAt(text, there.parent ?? there)}`,
    );
    return splice(text, { start: there.offset, end: there.offset + there.length }, written);
  }
  const object = findNodeAtLocation(root, [table]);
  return object
    ? insert(text, object, { key: name, value: entry })
    : insert(text, root, { key: table, value: { [name]: entry } });
}

async function removeFrom(text: string, table: string, names: ReadonlySet<string>): Promise<string> {
  const { applyEdits, findNodeAtLocation, modify, parseTree } = await import("jsonc-parser");
  const root = text.trim() === "" ? undefined : parseTree(text, [], { allowTrailingComma: true });
  const members = (root && findNodeAtLocation(root, [table])?.children) ?? [];
  let left = text;
  let isLast = true;
  // Entries are removed from the end, so that earlier offsets stay valid.
  for (const [at, member] of Array.from(members.entries()).toReversed()) {
    const name = String(member.children?.[0]?.value);
    if (names.has(name)) {
      const before = members[at - 1];
      left =
        withoutLines(left, { member, before, isLast }) ?? applyEdits(left, modify(left, [table, name], undefined, {}));
    } else isLast = false;
  }
  return left;
}

interface JsonMember {
  readonly key: string;
  readonly value: JsonObject;
}

/** Inserts a member after the last one, in the same layout. */
function insert(text: string, object: Node, { key, value }: JsonMember): string {
  const last = object.children?.at(-1);
  const unit = unitOf(text);
  const isOnOwnLine = last ? startsLine(text, last) : true;
  const indent = last && isOnOwnLine ? indentAt(text, last) : indentAt(text, object) + unit;
  const member = (inner: string): string =>
    `${JSON.stringify(key)}: ${JSON.stringify(value, null, unit).replaceAll("\n", `\n${inner}`)}`;
  if (!last) {
    const [start, end] = [object.offset + 1, object.offset + object.length - 1];
    const inside = text.slice(start, end).trimEnd();
    return splice(
      text,
      { start: start + inside.length, end },
      `\n${indent}${member(indent)}\n${indentAt(text, object)}`,
    );
  }
  const end = last.offset + last.length;
  if (!isOnOwnLine) return splice(text, { start: end, end }, `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  const comma = commaAfter(text, end);
  const at = lineEndAfter(text, comma === undefined ? end : comma + 1, object.offset + object.length - 1);
  const inserted = splice(
    text,
    { start: at, end: at },
    `\n${indent}${member(indent)}${comma === undefined ? "" : ","}`,
  );
  return comma === undefined ? splice(inserted, { start: end, end }, ",") : inserted;
}

interface Removal {
  readonly member: Node;
  /** Previous member. */
  readonly before: Node | undefined;
  /** True if no later member remains, so that the previous member becomes the last one. */
  readonly isLast: boolean;
}

/** Removes a member together with its lines. Returns undefined if other members share these lines. */
function withoutLines(text: string, { member, before, isLast }: Removal): string | undefined {
  const end = member.offset + member.length;
  const comma = commaAfter(text, end);
  const behind = comma === undefined ? end : comma + 1;
  const lineEnd = text.indexOf("\n", behind);
  if (!startsLine(text, member) || lineEnd === -1 || !/^[ \t]*(?:\/\/[^\n]*)?\r?$/.test(text.slice(behind, lineEnd)))
    return undefined;
  const start = text.lastIndexOf("\n", member.offset) + 1;
  const shortened = splice(text, { start, end: lineEnd + 1 }, "");
  // If the removed last member had no trailing comma, removes the new last member's.
  const loose = isLast && comma === undefined && before ? commaAfter(text, before.offset + before.length) : undefined;
  return loose === undefined ? shortened : splice(shortened, { start: loose, end: loose + 1 }, "");
}

/** Replaces a span of the text. */
function splice(text: string, { start, end }: { start: number; end: number }, inserted: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return text.slice(0, start) + inserted.replaceAll("\n", eol) + text.slice(end);
}

/** Returns the indentation unit of the file. */
function unitOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

function indentAt(text: string, { offset }: Node): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";
}

function startsLine(text: string, { offset }: Node): boolean {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
}

const BETWEEN = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;

/** Returns the position of the comma after a value; comments may precede it. */
function commaAfter(text: string, at: number): number | undefined {
  BETWEEN.lastIndex = at;
  const end = at + (BETWEEN.exec(text)?.[0].length ?? 0);
  return text[end] === "," ? end : undefined;
}

/** Returns the end of this line if only a comment follows; otherwise the current position. */
function lineEndAfter(text: string, at: number, limit: number): number {
  const rest = /^[ \t]*(?:\/\/[^\n\r]*|\/\*[^\n\r]*\*\/[ \t]*)?(?=\r?\n)/.exec(text.slice(at, limit));
  return rest ? at + rest[0].length : at;
}
