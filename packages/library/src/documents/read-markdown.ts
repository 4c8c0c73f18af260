import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { Block, FoundMetadata, Reader } from "./block.ts";
import { readFrontMatter } from "./front-matter.ts";
import { decodeText } from "./read-text.ts";

/** Members of a syntax tree node that this module uses. */
interface Node {
  readonly type: string;
  readonly value?: string | undefined;
  readonly alt?: string | null | undefined;
  readonly depth?: number | undefined;
  readonly children?: readonly Node[] | undefined;
  readonly position?: { readonly start: MarkdownPosition; readonly end: MarkdownPosition } | undefined;
}

interface MarkdownPosition {
  readonly offset?: number | undefined;
}

/** Reads Markdown with tables and YAML front matter. */
export const readMarkdown: Reader = async (bytes) => {
  const { text, warnings } = decodeText(bytes);
  const { body, metadata, warning } = await readFrontMatter(text);
  const tree: Node = fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const blocks = (tree.children ?? []).flatMap((node) => blocksOf(node, body));
  return {
    blocks: blocks.filter((block) => block.text !== ""),
    pages: 0,
    metadata: [["front matter", metadata], firstHeading(blocks)],
    warnings: warning === undefined ? warnings : [...warnings, warning],
  };
};

/** Types of syntax tree nodes that contain no visible text. */
const SILENT: ReadonlySet<string> = new Set(["html", "definition", "thematicBreak"]);

function blocksOf(node: Node, body: string): Block[] {
  if (SILENT.has(node.type)) return [];
  if (node.type === "heading") return [{ kind: "heading", level: node.depth ?? 1, text: plain(node) }];
  if (node.type === "paragraph") return [{ kind: "paragraph", text: plain(node) }];
  if (node.type === "code") return [{ kind: "code", text: node.value ?? "" }];
  if (node.type === "table")
    return [{ kind: "table", text: body.slice(node.position?.start.offset, node.position?.end.offset) }];
  return (node.children ?? []).flatMap((child) => blocksOf(child, body));
}

function plain(node: Node): string {
  return wordsOf(node).replaceAll(/\s+/g, " ").trim();
}

function wordsOf(node: Node): string {
  if (node.type === "break") return " ";
  if (node.type === "image") return node.alt ?? "";
  if (node.type === "html") return "";
  return node.value ?? (node.children ?? []).map(wordsOf).join("");
}

/** Returns the title: a level 1 heading at the start of the document. */
export function firstHeading(blocks: readonly Block[]): readonly [string, FoundMetadata] {
  const [first] = blocks;
  return ["first heading", first?.kind === "heading" && first.level === 1 ? { title: first.text } : {}];
}
