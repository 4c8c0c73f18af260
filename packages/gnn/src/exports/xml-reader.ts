import { FormatError } from "./format-error.ts";

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  /** Text directly in the element, without that of its children. */
  readonly text: string;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Record<string, string>;
  readonly children: XmlElement[];
  text: string;
}

const MAX_DEPTH = 128;
const TAG = /<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /(?<![\w.:-])([\w.:-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * Parses a plain XML document: elements, attributes, text. Throws for document type declarations and custom entities.
 */
export function readXml(text: string): XmlElement {
  const root: OpenElement = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  while (at < text.length) {
    const skipped = skipMarkup(text, at);
    if (skipped !== undefined) at = skipped;
    else if (text[at] === "<") at = readTag(text, at, open);
    else {
      const next = text.indexOf("<", at);
      const end = next === -1 ? text.length : next;
      open.at(-1)!.text += unescapeXml(text.slice(at, end));
      at = end;
    }
  }
  if (open.length > 1) throw new FormatError(`<${open.at(-1)!.name}> is never closed.`);
  const [first, ...others] = root.children;
  if (!first || others.length > 0 || root.text.trim() !== "") throw new FormatError("This is not an XML document.");
  return first;
}

/** Returns the end of the comment or declaration that starts there. */
function skipMarkup(text: string, at: number): number | undefined {
  for (const [start, end] of [
    ["<?", "?>"],
    ["<!--", "-->"],
  ] as const) {
    if (!text.startsWith(start, at)) continue;
    const found = text.indexOf(end, at + start.length);
    if (found === -1) throw new FormatError(`${start} is never closed.`);
    return found + end.length;
  }
  if (text.startsWith("<!", at))
    throw new FormatError("Document type declarations and CDATA are not supported. Remove them.");
  return undefined;
}

function readTag(text: string, at: number, open: OpenElement[]): number {
  TAG.lastIndex = at;
  const found = TAG.exec(text);
  if (!found)
    throw new FormatError(`There is no tag at character ${at + 1}: ${JSON.stringify(text.slice(at, at + 20))}.`);
  const [whole, slash, name, attributes = "", isEmpty] = found;
  if (slash) {
    const element = open.pop()!;
    if (element.name !== name || open.length === 0) throw new FormatError(`</${name}> closes nothing.`);
    open.at(-1)!.children.push(element);
    return at + whole.length;
  }
  const element: OpenElement = { name: name!, attributes: readAttributes(attributes), children: [], text: "" };
  if (isEmpty) open.at(-1)!.children.push(element);
  else if (open.push(element) > MAX_DEPTH)
    throw new FormatError(`The document is nested deeper than ${MAX_DEPTH} elements.`);
  return at + whole.length;
}

function readAttributes(text: string): Record<string, string> {
  const pairs = Array.from(text.matchAll(ATTRIBUTE), ([, key, double, single]) => {
    return [key!, unescapeXml(double ?? single ?? "")] as const;
  });
  return Object.fromEntries(pairs);
}

function unescapeXml(text: string): string {
  return text.replaceAll(/&[#\w]+;/g, (entity) => {
    const found = ENTITIES[entity.slice(1, -1)] ?? numbered(entity);
    if (found === undefined) throw new FormatError(`${entity} is not a predefined XML entity.`);
    return found;
  });
}

function numbered(entity: string): string | undefined {
  const [, hex, decimal] = /^&#(?:x([0-9a-f]{1,6})|(\d{1,7}));$/i.exec(entity) ?? [];
  if (hex === undefined && decimal === undefined) return undefined;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}
