import type { FrontMatter, FrontScalar, FrontValue } from "./model.ts";
import { NOTHING, type Source } from "./source.ts";

const RULE = /^\s*---\s*$/;
const KEY = /^([\w.-]+):(?:\s+(\S.*)?)?$/;
const ITEM = /^\s*-\s+(\S.*)?$/;
const MAX_LINES = 500;

/** Reads the YAML block at the beginning of a text. Also returns the index of the first line after it. */
export function readFrontMatter(source: Source): { frontMatter?: FrontMatter; next: number } {
  let first = 0;
  while (first < source.lineCount && source.firstCode(first) === NOTHING) first += 1;
  if (first >= source.lineCount || !RULE.test(source.line(first).text)) return { next: 0 };
  const last = closingRule(source, first + 1);
  if (last === undefined) return { next: 0 };
  const inner = source.lines({ first: first + 1, end: last }).map(({ text }) => text.trimEnd());
  return { frontMatter: frontMatterOf(inner), next: last + 1 };
}

/** Returns the front matter of these lines, which do not include the delimiters. */
export function frontMatterOf(lines: readonly string[]): FrontMatter {
  return { lines, values: valuesOf(lines) };
}

/**
 * Returns the closing line of front matter. A block is front matter only if it contains key-value lines and no section;
 * other horizontal rules are decoration.
 */
function closingRule(source: Source, from: number): number | undefined {
  let hasKey = false;
  for (let index = from; index < Math.min(source.lineCount, from + MAX_LINES); index += 1) {
    const { text } = source.line(index);
    if (RULE.test(text)) return hasKey ? index : undefined;
    if (/^\s*##(?!#)/.test(text)) return undefined;
    hasKey ||= KEY.test(text);
  }
  return undefined;
}

function valuesOf(lines: readonly string[]): Record<string, FrontValue> {
  const values = new Map<string, FrontValue>();
  let list: FrontScalar[] | undefined;
  for (const line of lines) {
    const item = ITEM.exec(line);
    const pair = KEY.exec(line);
    if (item && list) list.push(scalarOf(item[1] ?? ""));
    else if (pair) {
      list = pair[2] === undefined || withoutComment(pair[2]) === "" ? [] : undefined;
      values.set(pair[1]!, list ?? valueOf(pair[2]!));
    }
  }
  return Object.fromEntries(values);
}

function valueOf(text: string): FrontValue {
  const plain = withoutComment(text);
  if (!plain.startsWith("[") || !plain.endsWith("]")) return scalarOf(plain);
  const inner = plain.slice(1, -1).trim();
  return inner === "" ? [] : inner.split(",").map(scalarOf);
}

function withoutComment(text: string): string {
  const trimmed = text.trim();
  if (trimmed.startsWith('"') || trimmed.startsWith("'")) return trimmed;
  const at = trimmed.search(/(?:^|\s)#/);
  return at === -1 ? trimmed : trimmed.slice(0, at).trimEnd();
}

function scalarOf(text: string): FrontScalar {
  const plain = text.trim();
  const quote = plain[0];
  if (plain.length >= 2 && (quote === '"' || quote === "'") && plain.endsWith(quote)) return plain.slice(1, -1);
  if (plain === "true" || plain === "false") return plain === "true";
  if (plain === "" || plain === "null" || plain === "~") return null;
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(plain) ? Number(plain) : plain;
}
