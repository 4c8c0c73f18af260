import type { Node } from "jsonc-parser";
import type { JsonObject } from "../../core/json.ts";
import { BYTE_ORDER_MARK } from "../document.ts";

/** JSON with comments in which one entry of a table was set or removed; every other line stays as it is. */
export async function editJson(text: string, place: readonly [string, string], entry?: JsonObject): Promise<string> {
  const [mark = ""] = BYTE_ORDER_MARK.exec(text) ?? [];
  return mark + (await editPlain(text.slice(mark.length), place, entry));
}

async function editPlain(text: string, [table, name]: readonly [string, string], entry?: JsonObject): Promise<string> {
  const { applyEdits, findNodeAtLocation, modify, parseTree } = await import("jsonc-parser");
  const root = text.trim() === "" ? undefined : parseTree(text, [], { allowTrailingComma: true });
  if (!root) return entry ? `${JSON.stringify({ [table]: { [name]: entry } }, null, 2)}\n` : text;
  const there = findNodeAtLocation(root, [table, name]);
  if (there && entry) {
    const written = JSON.stringify(entry, null, unitOf(text)).replaceAll(
      "\n",
      `\n${indentAt(text, there.parent ?? there)}`,
    );
    return splice(text, { start: there.offset, end: there.offset + there.length }, written);
  }
  if (there)
    return withoutLines(text, there.parent ?? there) ?? applyEdits(text, modify(text, [table, name], undefined, {}));
  if (!entry) return text;
  const object = findNodeAtLocation(root, [table]);
  return object
    ? insert(text, object, { key: name, value: entry })
    : insert(text, root, { key: table, value: { [name]: entry } });
}

interface Member {
  readonly key: string;
  readonly value: JsonObject;
}

/** Puts a member behind the last one, laid out as that is. */
function insert(text: string, object: Node, { key, value }: Member): string {
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

/** A member on lines of its own goes with them. Nothing where it shares them with others. */
function withoutLines(text: string, member: Node): string | undefined {
  const end = member.offset + member.length;
  const comma = commaAfter(text, end);
  const behind = comma === undefined ? end : comma + 1;
  const lineEnd = text.indexOf("\n", behind);
  if (!startsLine(text, member) || lineEnd === -1 || !/^[ \t]*(?:\/\/[^\n]*)?\r?$/.test(text.slice(behind, lineEnd)))
    return undefined;
  const start = text.lastIndexOf("\n", member.offset) + 1;
  const siblings = member.parent?.children ?? [];
  const before = siblings[siblings.indexOf(member) - 1];
  const isLast = siblings.at(-1) === member;
  const shortened = splice(text, { start, end: lineEnd + 1 }, "");
  // What is last now ends without a comma, as what was last did.
  const loose = isLast && comma === undefined && before ? commaAfter(text, before.offset + before.length) : undefined;
  return loose === undefined ? shortened : splice(shortened, { start: loose, end: loose + 1 }, "");
}

/** Puts other text where a span of it was. */
function splice(text: string, { start, end }: { start: number; end: number }, inserted: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return text.slice(0, start) + inserted.replaceAll("\n", eol) + text.slice(end);
}

/** One step of indentation as the file has it. */
function unitOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
}

function indentAt(text: string, { offset }: Node): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";
}

function startsLine(text: string, { offset }: Node): boolean {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
}

/** The comma behind a value, with comments in between. */
function commaAfter(text: string, at: number): number | undefined {
  const between = /^(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/.exec(text.slice(at))?.[0].length ?? 0;
  return text[at + between] === "," ? at + between : undefined;
}

/** The end of this line, where nothing but a comment follows on it, else right here. */
function lineEndAfter(text: string, at: number, limit: number): number {
  const rest = /^[ \t]*(?:\/\/[^\n\r]*|\/\*[^\n\r]*\*\/[ \t]*)?(?=\r?\n)/.exec(text.slice(at, limit));
  return rest ? at + rest[0].length : at;
}
