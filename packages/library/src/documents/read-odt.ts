import { Parser } from "htmlparser2";
import type { Block, FoundMetadata, Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import { textsOf } from "./read-docx.ts";
import { defined } from "./read-html.ts";
import { firstHeading } from "./read-markdown.ts";
import { ZipArchive } from "./zip.ts";

/**
 * Reads an OpenDocument text: headings by their outline levels, tables, and notes at the end. Ignores comments, tracked
 * deletions and hidden text.
 */
export const readOdt: Reader = async (bytes) => {
  const archive = new ZipArchive(bytes);
  const xmlOf = (name: string): string => archive.read(name)?.toString("utf8") ?? "";
  if (xmlOf("META-INF/manifest.xml").includes("encryption-data"))
    throw new DocumentError(
      "VALIDATION_ERROR",
      "It is protected by a password. Remove the password.",
      "password_required",
    );
  const content = xmlOf("content.xml");
  if (content === "") throw new DocumentError("VALIDATION_ERROR", "It is not an ODT file: `content.xml` is missing.");
  const blocks = blocksOf(content, hiddenStyles(content + xmlOf("styles.xml")));
  const metadata = metadataOf(xmlOf("meta.xml"));
  return { blocks, pages: 0, metadata: [["ODT", metadata], firstHeading(blocks)], warnings: [] };
};

const XML = { xmlMode: true, decodeEntities: true } as const;
const MAX_LEVEL = 6;
/** Maximum number of spaces that one `text:s` element adds. */
const MAX_SPACES = 1_000;
/** Elements whose text is not part of the document, and marks of notes, which would be inside a word. */
const SILENT: ReadonlySet<string> = new Set([
  "text:tracked-changes",
  "office:annotation",
  "text:note-citation",
  "text:hidden-paragraph",
  "text:hidden-text",
  "text:table-of-content",
  "text:alphabetical-index",
  "office:forms",
  "svg:title",
  "svg:desc",
]);

/** Returns the names of the styles with hidden text. */
function hiddenStyles(xml: string): ReadonlySet<string> {
  const hidden = new Set<string>();
  let style = "";
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === "style:style") style = attributes["style:name"] ?? "";
        if (name === "style:text-properties" && attributes["text:display"] === "none") hidden.add(style);
      },
    },
    XML,
  );
  parser.end(xml);
  return hidden;
}

interface OpenText {
  readonly level?: number | undefined;
  text: string;
}

class OdtBody {
  readonly #blocks: Block[] = [];
  readonly #notes: Block[] = [];
  readonly #hidden: ReadonlySet<string>;
  /** Open paragraphs. There may be several, because a note is inside the paragraph that refers to it. */
  readonly #open: OpenText[] = [];
  #silence = 0;
  #isBody = false;
  #noteDepth = 0;
  #rows: string[][] | undefined;
  #cell: string[] = [];
  #tables = 0;

  constructor(hidden: ReadonlySet<string>) {
    this.#hidden = hidden;
  }

  blocks(): Block[] {
    return [...this.#blocks, ...this.#notes];
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === "office:text") this.#isBody = true;
    if (this.#silence > 0 || SILENT.has(name) || this.#hidden.has(attributes["text:style-name"] ?? ""))
      this.#silence += 1;
    else this.#opened[name]?.(attributes);
  }

  readonly #opened: Readonly<Record<string, (attributes: Readonly<Record<string, string>>) => void>> = {
    "text:p": () => this.#open.push({ text: "" }),
    "text:h": (attributes) => this.#open.push({ level: levelOf(attributes["text:outline-level"]), text: "" }),
    "text:s": (attributes) => this.text(" ".repeat(Math.min(Number(attributes["text:c"] ?? 1) || 1, MAX_SPACES))),
    "text:tab": () => this.text(" "),
    "text:line-break": () => this.text(" "),
    "text:note": () => (this.#noteDepth += 1),
    "table:table": () => {
      this.#tables += 1;
      this.#rows ??= [];
    },
    "table:table-row": () => this.#rows?.push([]),
  };

  close(name: string): void {
    if (this.#silence > 0) {
      this.#silence -= 1;
      return;
    }
    this.#closed[name]?.();
  }

  readonly #closed: Readonly<Record<string, () => void>> = {
    "text:p": () => this.#endParagraph(),
    "text:h": () => this.#endParagraph(),
    "text:note": () => (this.#noteDepth -= 1),
    "table:table-cell": () => {
      this.#rows?.at(-1)?.push(this.#cell.join(" "));
      this.#cell = [];
    },
    "table:table": () => this.#endTable(),
  };

  text(text: string): void {
    const open = this.#open.at(-1);
    if (open && this.#isBody && this.#silence === 0) open.text += text;
  }

  #endParagraph(): void {
    const { level, text: whole } = this.#open.pop() ?? { text: "" };
    const text = whole.replaceAll(/\s+/g, " ").trim();
    if (text === "") return;
    if (this.#noteDepth > 0) this.#notes.push({ kind: "paragraph", text });
    else if (this.#rows) this.#cell.push(text);
    else this.#blocks.push(level === undefined ? { kind: "paragraph", text } : { kind: "heading", level, text });
  }

  #endTable(): void {
    this.#tables -= 1;
    if (this.#tables > 0) return;
    const rows = (this.#rows ?? []).filter((row) => row.some((cell) => cell !== ""));
    this.#rows = undefined;
    if (rows.length > 0)
      this.#blocks.push({ kind: "table", text: rows.map((row) => `| ${row.join(" | ")} |`).join("\n") });
  }
}

function levelOf(outline: string | undefined): number {
  return Math.min(Math.max(Number(outline ?? 1) || 1, 1), MAX_LEVEL);
}

function blocksOf(xml: string, hidden: ReadonlySet<string>): Block[] {
  const body = new OdtBody(hidden);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => body.open(name, attributes),
      onclosetag: (name) => body.close(name),
      ontext: (text) => body.text(text),
    },
    XML,
  );
  parser.end(xml);
  return body.blocks();
}

function metadataOf(xml: string): FoundMetadata {
  const texts = textsOf(xml, ["dc:title", "meta:initial-creator", "dc:creator", "dc:language"]);
  return defined({
    title: texts.get("dc:title")?.[0],
    author: (texts.get("meta:initial-creator") ?? texts.get("dc:creator"))?.join(", "),
    language: texts.get("dc:language")?.[0],
  });
}
