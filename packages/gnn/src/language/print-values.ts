import type { Value, ValueComment, ValueGroup } from "./model.ts";

type Bracket = "{" | "(" | "[";

const CLOSERS: Readonly<Record<Bracket, string>> = { "{": "}", "(": ")", "[": "]" };
/** Line width within which a group stays on one line. */
const MAX_WIDTH = 100;

/** A value behind `name=`: braces around the whole, a line for each row. */
export function printWhole(value: Value): string {
  if (value.kind !== "group") return printValue(value);
  const isRows = value.items.length > 1 && value.items.some((item) => item.kind === "group");
  return printGroup(value, { bracket: "{", indent: "", isOpen: isRows });
}

/** A value on one line, if it has no comments in it. */
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
  /** One item a line, even where all would fit on one. */
  readonly isOpen: boolean;
  /** All on one line, however long. */
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

/** The group on one line, or nothing where it is too long or has comments. */
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

/** Many numbers: as many on a line as fit. */
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

/** Items, each on its line with a comma, and comments where they stood. */
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
