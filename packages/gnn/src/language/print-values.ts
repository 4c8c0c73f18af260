import type { Value, ValueComment, ValueGroup } from "./model.ts";

type Bracket = "{" | "(" | "[";

const CLOSERS: Readonly<Record<Bracket, string>> = { "{": "}", "(": ")", "[": "]" };
/** Maximum line width of a group on one line. */
const MAX_WIDTH = 100;

/** Prints a value after `name=`: in braces, with one row per line. */
export function printWhole(value: Value): string {
  if (value.kind !== "group") return printValue(value);
  const isRows = value.items.length > 1 && value.items.some((item) => item.kind === "group");
  return printGroup(value, { bracket: "{", indent: "", isOpen: isRows });
}

/** Prints a value on one line, if it contains no comments. */
export function printValue(value: Value, bracket: Bracket = "("): string {
  switch (value.kind) {
    case "group":
      return printGroup(value, { bracket, indent: "", isOpen: false, isFlat: bracket === "[" });
    case "number":
      return value.text ?? numberText(value.value);
    case "word":
      return value.text;
    case "string":
      return quoted(value.text);
    case "entry":
      return `${quoted(value.key)}: ${printValue(value.value, bracket)}`;
  }
}

export function numberText(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? "-0" : String(value);
  return value > 0 ? "inf" : "-inf";
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

interface PrintLayout {
  readonly bracket: Bracket;
  readonly indent: string;
  /** True if each item has its own line, even if all would fit on one. */
  readonly isOpen: boolean;
  /** True if the value is printed on one line, regardless of its length. */
  readonly isFlat?: boolean;
}

function printGroup(group: ValueGroup, { bracket, indent, isOpen, isFlat = false }: PrintLayout): string {
  const inner = bracket === "[" ? "[" : "(";
  if (!isOpen) {
    const flat = flatText(group, bracket, isFlat ? Infinity : MAX_WIDTH - indent.length);
    if (flat !== undefined) return flat;
  }
  const further = `${indent}  `;
  const items = group.items.map((item) =>
    item.kind === "group"
      ? printGroup(item, { bracket: inner, indent: further, isOpen: false })
      : printValue(item, inner),
  );
  const lines =
    group.items.every((item) => item.kind === "number") && !group.comments ? wrapped(items, further) : items;
  return [bracket, ...withComments(lines, group.comments ?? [], further), `${indent}${CLOSERS[bracket]}`].join("\n");
}

/** Prints the group on one line. Returns undefined if it is too long or contains comments. */
function flatText(group: ValueGroup, bracket: Bracket, width: number): string | undefined {
  if (group.comments) return undefined;
  const inner = bracket === "[" ? "[" : "(";
  let text: string = bracket;
  for (const [index, item] of group.items.entries()) {
    if (index > 0) text += ", ";
    const printed = item.kind === "group" ? flatText(item, inner, width - text.length) : printValue(item, inner);
    if (printed === undefined || text.length + printed.length > width) return undefined;
    text += printed;
  }
  return text + CLOSERS[bracket];
}

/** Prints many numbers with as many per line as fit. */
function wrapped(items: readonly string[], indent: string): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const item of items) {
    if (line === "") line = item;
    else if (indent.length + line.length + item.length + 3 > MAX_WIDTH) {
      lines.push(line);
      line = item;
    } else line += `, ${item}`;
  }
  return line === "" ? lines : [...lines, line];
}

/** Prints each item on its own line with a comma, and comments at their original positions. */
function withComments(items: readonly string[], comments: readonly ValueComment[], indent: string): readonly string[] {
  const lines: string[] = [];
  let next = 0;
  for (let index = 0; index <= items.length; index += 1) {
    for (; next < comments.length && comments[next]!.before === index; next += 1) {
      const { text, ownLine } = comments[next]!;
      if (ownLine || index === 0 || /(?:^|\s)#/.test(lines.at(-1)!)) lines.push(indent + text);
      else lines.push(`${lines.pop()!}  ${text}`);
    }
    if (index < items.length) lines.push(`${indent}${items[index]!}${index < items.length - 1 ? "," : ""}`);
  }
  return lines;
}
