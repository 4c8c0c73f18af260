import { Parser } from "htmlparser2";
import type { Block, FoundMetadata, Reader } from "./block.ts";
import { decodeBytes } from "toolyard/text";
import { DocumentError } from "./document-error.ts";
import { MarkupBlocks } from "./markup-blocks.ts";
import { OpenElements, type MarkupSink } from "./open-elements.ts";
import { firstHeading } from "./read-markdown.ts";
import { decodeText } from "./read-text.ts";

/** Reads the main part of an HTML page, without navigation and hidden elements. Nothing is executed or fetched. */
export const readHtml: Reader = async (bytes) => {
  const { text, warnings } = decodeMarkup(bytes);
  const { blocks, metadata } = parseHtml(text);
  return { blocks, pages: 0, metadata: [["HTML", metadata], firstHeading(blocks)], warnings };
};

/** Names of the metadata elements, the most reliable first. */
const NAMES = {
  title: ["citation_title", "dc.title", "dcterms.title", "og:title"],
  author: ["citation_author", "dc.creator", "dcterms.creator", "author", "article:author"],
  date: ["citation_publication_date", "citation_date", "dc.date", "dcterms.date", "article:published_time", "date"],
  language: ["dc.language", "dcterms.language"],
} as const;

/** Maximum nesting depth of elements. Pages written by people stay below it, and the cost of each level grows. */
const MAX_DEPTH = 5_000;

/**
 * Parses HTML or XML. In XML, such as the chapters of a book, tags may be self-closing. In HTML the slash is ignored.
 */
export function parseHtml(
  text: string,
  isXml = /^\s*<\?xml\s/.test(text),
): { readonly blocks: Block[]; readonly metadata: FoundMetadata } {
  const page = new MarkupBlocks();
  const head = new HtmlHead();
  const elements = new OpenElements(bothOf(head, page));
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > MAX_DEPTH)
          throw new DocumentError("TOO_LARGE", `It has more than ${MAX_DEPTH} nested tags.`, "damaged");
        elements.open(name, attributes);
      },
      onclosetag() {
        depth -= 1;
        elements.close();
      },
      ontext: (piece) => elements.text(piece),
    },
    { recognizeSelfClosing: isXml },
  );
  parser.end(text);
  return { blocks: page.blocks(), metadata: head.metadata() };
}

function bothOf(one: MarkupSink, other: MarkupSink): MarkupSink {
  return {
    open(name, attributes) {
      one.open(name, attributes);
      other.open(name, attributes);
    },
    close(name) {
      one.close(name);
      other.close(name);
    },
    text(text) {
      one.text(text);
      other.text(text);
    },
  };
}

/** Embedded elements, such as drawings, whose titles are not the page's title. */
const OTHERS: ReadonlySet<string> = new Set(["svg", "math", "template"]);

/** Collects the metadata of a page. */
class HtmlHead implements MarkupSink {
  readonly #found = new Map<string, string[]>();
  #title: string | undefined;
  #isTitle = false;
  #language = "";
  /** Nesting depth inside embedded elements. */
  #others = 0;

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (OTHERS.has(name)) this.#others += 1;
    if (this.#others > 0) return;
    if (name === "html") this.#language = attributes["lang"] ?? attributes["xml:lang"] ?? "";
    if (name === "meta") this.#take(attributes);
    this.#isTitle = name === "title" && this.#title === undefined;
    if (this.#isTitle) this.#title = "";
  }

  close(name: string): void {
    if (OTHERS.has(name)) this.#others -= 1;
    this.#isTitle = false;
  }

  text(piece: string): void {
    if (this.#isTitle) this.#title += piece;
  }

  metadata(): FoundMetadata {
    const first = (names: readonly string[]): string | undefined =>
      names.map((name) => this.#found.get(name)?.join(", ")).find((value) => value !== undefined);
    const year = /\b(\d{4})\b/.exec(first(NAMES.date) ?? "")?.[1];
    return defined({
      title: first(NAMES.title) ?? (this.#title?.replaceAll(/\s+/g, " ").trim() || undefined),
      author: first(NAMES.author),
      language: first(NAMES.language) ?? (this.#language || undefined),
      year: year === undefined ? undefined : Number(year),
    });
  }

  #take({ name, property = "", content = "" }: Readonly<Record<string, string>>): void {
    const key = (name ?? property).toLowerCase();
    const value = content.trim();
    if (key !== "" && value !== "") this.#found.set(key, [...(this.#found.get(key) ?? []), value]);
  }
}

export function defined(fields: {
  readonly [Key in keyof FoundMetadata]: FoundMetadata[Key] | undefined;
}): FoundMetadata {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Number of bytes that are searched for the name of the character set. */
const LOOKED_AT = 1_024;
const NAMED = /charset\s*=\s*["']?([\w-]{2,40})|encoding\s*=\s*["']([\w-]{2,40})/i;

export function decodeMarkup(bytes: Uint8Array): ReturnType<typeof decodeText> {
  const beginning = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString("latin1");
  const [, inMeta, inXml] = NAMED.exec(beginning) ?? [];
  const name = (inMeta ?? inXml ?? "utf-8").toLowerCase();
  if (/^(utf-?8|utf-?16.*)$/.test(name)) return decodeText(bytes);
  try {
    return { text: decodeBytes(name, bytes), warnings: [] };
  } catch {
    return decodeText(bytes);
  }
}
