import { Parser } from "htmlparser2";
import type { Block, FoundMetadata, Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import { defined } from "./read-html.ts";
import { firstHeading } from "./read-markdown.ts";
import { ZipArchive } from "./zip.ts";

/** Reads a Word document: headings by their styles, tables, and notes at the end. Ignores macros and fields. */
export const readDocx: Reader = async (bytes) => {
  const archive = new ZipArchive(bytes);
  const document = archive.read("word/document.xml");
  if (!document) throw new DocumentError("VALIDATION_ERROR", "It is not a DOCX file: `word/document.xml` is missing.");
  const levels = levelsOf(xmlOf(archive, "word/styles.xml"));
  const blocks = [
    ...blocksOf(document.toString("utf8"), levels),
    ...["word/footnotes.xml", "word/endnotes.xml"].flatMap((name) => blocksOf(xmlOf(archive, name), new Map())),
  ];
  const metadata = coreOf(xmlOf(archive, "docProps/core.xml"));
  return { blocks, pages: 0, metadata: [["DOCX", metadata], firstHeading(blocks)], warnings: [] };
};

function xmlOf(archive: ZipArchive, name: string): string {
  return archive.read(name)?.toString("utf8") ?? "";
}

const XML = { xmlMode: true, decodeEntities: true } as const;
const MAX_LEVEL = 6;

/** Returns the heading styles with their levels: from the outline level, else from the built-in style names. */
function levelsOf(xml: string): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  let id = "";
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const value = attributes["w:val"] ?? "";
        if (name === "w:style") id = attributes["w:styleId"] ?? "";
        if (name === "w:outlineLvl" && Number(value) < MAX_LEVEL) levels.set(id, Number(value) + 1);
        if (name !== "w:name") return;
        const level = /^heading ([1-6])$/i.exec(value)?.[1] ?? (/^title$/i.test(value) ? "1" : undefined);
        if (level !== undefined) levels.set(id, Number(level));
      },
    },
    XML,
  );
  parser.end(xml);
  return levels;
}

/** Elements with deleted or hidden text, or with field codes. */
const SILENT: ReadonlySet<string> = new Set(["w:del", "w:moveFrom", "w:instrText", "mc:Fallback"]);

class Letter {
  readonly blocks: Block[] = [];
  readonly #levels: ReadonlyMap<string, number>;
  #silence = 0;
  #isText = false;
  #isHidden = false;
  #text = "";
  #level: number | undefined;
  #rows: string[][] | undefined;

  constructor(levels: ReadonlyMap<string, number>) {
    this.#levels = levels;
  }

  open(name: string, { "w:val": value = "" }: Readonly<Record<string, string>>): void {
    if (this.#silence > 0 || SILENT.has(name)) this.#silence += 1;
    else this.#opened[name]?.(value);
  }

  readonly #opened: Readonly<Record<string, (value: string) => void>> = {
    "w:t": () => (this.#isText = true),
    "w:tab": () => (this.#text += " "),
    "w:br": () => (this.#text += " "),
    "w:cr": () => (this.#text += " "),
    "w:r": () => (this.#isHidden = false),
    "w:vanish": (value) => (this.#isHidden = value !== "false" && value !== "0"),
    "w:pStyle": (value) => (this.#level = this.#levels.get(value)),
    "w:tbl": () => (this.#rows ??= []),
    "w:tr": () => this.#rows?.push([]),
  };

  close(name: string): void {
    if (this.#silence > 0) this.#silence -= 1;
    else if (name === "w:t") this.#isText = false;
    else if (name === "w:tc") this.#endCell();
    else if (name === "w:tbl") this.#endTable();
    else if (name === "w:p") this.#endParagraph();
  }

  text(text: string): void {
    if (this.#isText && this.#silence === 0 && !this.#isHidden) this.#text += text;
  }

  #endParagraph(): void {
    // A cell may have several paragraphs.
    if (this.#rows) this.#text += " ";
    else {
      const text = spaced(this.#text);
      const level = this.#level;
      if (text !== "")
        this.blocks.push(level === undefined ? { kind: "paragraph", text } : { kind: "heading", level, text });
      this.#text = "";
    }
    this.#level = undefined;
  }

  #endCell(): void {
    this.#rows?.at(-1)?.push(spaced(this.#text));
    this.#text = "";
  }

  #endTable(): void {
    const rows = (this.#rows ?? []).filter((row) => row.some((cell) => cell !== ""));
    this.#rows = undefined;
    if (rows.length > 0)
      this.blocks.push({ kind: "table", text: rows.map((row) => `| ${row.join(" | ")} |`).join("\n") });
  }
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function blocksOf(xml: string, levels: ReadonlyMap<string, number>): Block[] {
  const letter = new Letter(levels);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => letter.open(name, attributes),
      onclosetag: (name) => letter.close(name),
      ontext: (text) => letter.text(text),
    },
    XML,
  );
  parser.end(xml);
  return letter.blocks;
}

function coreOf(xml: string): FoundMetadata {
  const texts = textsOf(xml, ["dc:title", "dc:creator", "dc:language"]);
  return defined({
    title: texts.get("dc:title")?.[0],
    author: texts.get("dc:creator")?.join(", "),
    language: texts.get("dc:language")?.[0],
  });
}

/** Returns the content of all elements with these names. */
export function textsOf(xml: string, names: readonly string[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  let open: string | undefined;
  let text = "";
  const parser = new Parser(
    {
      onopentag(name) {
        if (names.includes(name)) [open, text] = [name, ""];
      },
      ontext(piece) {
        if (open !== undefined) text += piece;
      },
      onclosetag(name) {
        if (name !== open) return;
        const words = text.replaceAll(/\s+/g, " ").trim();
        if (words !== "") found.set(name, [...(found.get(name) ?? []), words]);
        open = undefined;
      },
    },
    XML,
  );
  parser.end(xml);
  return found;
}
