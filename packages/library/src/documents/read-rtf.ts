import type { Block, FoundMetadata, Reader } from "./block.ts";
import { DocumentError } from "./document-error.ts";
import { defined } from "./read-html.ts";
import { firstHeading } from "./read-markdown.ts";
import { codePageOf, decodeCodePage, rtfTokens, type RtfToken } from "./rtf-tokens.ts";

/**
 * Reads an RTF file: headings by outline levels or style names, tables, and footnotes at the end. Ignores pictures,
 * headers, footers, deleted and hidden text.
 */
export const readRtf: Reader = async (bytes) => {
  const document = new RtfDocument();
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  for (const token of rtfTokens(text)) document.add(token);
  const blocks = document.blocks();
  return { blocks, pages: 0, metadata: [["RTF", document.metadata()], firstHeading(blocks)], warnings: [] };
};

/** Maximum depth of nested groups. */
const MAX_DEPTH = 1_000;
const MAX_LEVEL = 6;

type Destination = "body" | "note" | "skipped" | "fonts" | "styles" | "title" | "author";

/** Groups that begin with these words are not part of the text, unless another destination is given. */
const DESTINATIONS: Readonly<Record<string, Destination>> = {
  fonttbl: "fonts",
  stylesheet: "styles",
  footnote: "note",
  title: "title",
  author: "author",
  ...Object.fromEntries(
    (
      "* colortbl info pict object header headerl headerr headerf footer footerl footerr footerf fldinst ftnsep " +
      "ftnsepc annotation atnid atnauthor listtable revtbl generator nonshppict themedata datastore xe tc txe"
    )
      .split(" ")
      .map((word) => [word, "skipped"] as const),
  ),
};

const CHARACTERS: Readonly<Record<string, string>> = {
  tab: " ",
  line: " ",
  emdash: "—",
  endash: "–",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  bullet: "•",
  emspace: " ",
  enspace: " ",
};

interface GroupState {
  readonly destination: Destination;
  /** True if text is deleted or hidden. */
  readonly isHidden: boolean;
  readonly codePage: number | undefined;
  /** Number of substitute characters after a Unicode character, for programs without Unicode. */
  readonly fallback: number;
}

class RtfDocument {
  readonly #blocks: Block[] = [];
  readonly #notes: Block[] = [];
  readonly #groups: GroupState[] = [];
  #state: GroupState = { destination: "body", isHidden: false, codePage: undefined, fallback: 1 };
  #codePage = 1252;
  readonly #fonts = new Map<number, number>();
  #font = 0;
  readonly #styles = new Map<number, number>();
  #style = 0;
  #level: number | undefined;
  #skip = 0;
  #bytes: number[] = [];
  readonly #texts = { body: "", note: "", styles: "", title: "", author: "" };
  #rows: string[][] = [];
  #cells: string[] = [];
  #isTable = false;

  blocks(): Block[] {
    this.#endParagraph();
    this.#endTable();
    return [...this.#blocks, ...this.#notes];
  }

  metadata(): FoundMetadata {
    const { title, author } = this.#texts;
    return defined({ title: spaced(title) || undefined, author: spaced(author) || undefined });
  }

  add(token: RtfToken): void {
    if (token.kind === "bytes") return this.#addBytes(token.bytes);
    this.#decode();
    if (token.kind === "open") this.#open();
    else if (token.kind === "word") this.#word(token.name, token.number);
    else this.#close();
  }

  #open(): void {
    if (this.#groups.length >= MAX_DEPTH)
      throw new DocumentError("TOO_LARGE", `It has more than ${MAX_DEPTH} nested groups.`, "damaged");
    this.#groups.push(this.#state);
  }

  #close(): void {
    const { destination } = this.#state;
    if (destination === "styles") this.#endStyle();
    this.#state = this.#groups.pop() ?? this.#state;
    if (destination === "note" && this.#state.destination !== "note") this.#endNote();
  }

  #word(name: string, number: number | undefined): void {
    const destination = Object.hasOwn(DESTINATIONS, name) ? DESTINATIONS[name] : undefined;
    // Title and author are inside the information group, which is otherwise skipped.
    const isInside = this.#state.destination === "skipped" && destination !== "title" && destination !== "author";
    if (destination !== undefined && !isInside) this.#state = { ...this.#state, destination };
    else if (Object.hasOwn(CHARACTERS, name)) this.#write(CHARACTERS[name]!);
    else if (name === "u") this.#unicode(number ?? 0);
    else this.#control[name]?.(number);
  }

  readonly #control: Readonly<Record<string, (number: number | undefined) => void>> = {
    ansicpg: (number) => (this.#codePage = number ?? 1252),
    mac: () => (this.#codePage = 10_000),
    uc: (number) => (this.#state = { ...this.#state, fallback: Math.min(Math.max(number ?? 1, 0), 8) }),
    f: (number) => this.#setFont(number ?? 0),
    fcharset: (number) => {
      const page = codePageOf(number ?? 0);
      if (this.#state.destination === "fonts" && page !== undefined) this.#fonts.set(this.#font, page);
    },
    s: (number) => this.#setStyle(number ?? 0),
    outlinelevel: (number) => this.#setLevel(number),
    pard: () => {
      this.#level = undefined;
      this.#isTable = false;
    },
    plain: () => (this.#state = { ...this.#state, isHidden: false, codePage: undefined }),
    v: (number) => (this.#state = { ...this.#state, isHidden: number !== 0 }),
    deleted: (number) => (this.#state = { ...this.#state, isHidden: number !== 0 }),
    intbl: () => (this.#isTable = true),
    par: () => this.#endParagraph(),
    sect: () => this.#endParagraph(),
    page: () => this.#endParagraph(),
    cell: () => this.#endCell(),
    row: () => this.#endRow(),
  };

  #setFont(font: number): void {
    if (this.#state.destination === "fonts") this.#font = font;
    else this.#state = { ...this.#state, codePage: this.#fonts.get(font) };
  }

  #setStyle(style: number): void {
    if (this.#state.destination === "styles") this.#style = style;
    else this.#level = this.#styles.get(style) ?? this.#level;
  }

  #setLevel(outline: number | undefined): void {
    if (outline === undefined || outline >= MAX_LEVEL) return;
    if (this.#state.destination === "styles") this.#styles.set(this.#style, outline + 1);
    else this.#level = outline + 1;
  }

  #endStyle(): void {
    const level =
      /\bheading ([1-6])\b/i.exec(this.#texts.styles)?.[1] ?? (/^\s*title;/i.test(this.#texts.styles) ? 1 : undefined);
    if (level !== undefined) this.#styles.set(this.#style, Number(level));
    this.#texts.styles = "";
  }

  #addBytes(bytes: readonly number[]): void {
    // Skips the substitute characters after a Unicode character.
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    for (let at = skipped; at < bytes.length; at += 1) this.#bytes.push(bytes[at]!);
  }

  #decode(): void {
    if (this.#bytes.length === 0) return;
    const text = decodeCodePage(this.#bytes, this.#state.codePage ?? this.#codePage);
    this.#bytes = [];
    this.#write(text);
  }

  #unicode(number: number): void {
    // Numbers above 32,767 are written as negative ones.
    this.#write(String.fromCharCode(number & 0xff_ff));
    this.#skip = this.#state.fallback;
  }

  #write(text: string): void {
    const { destination, isHidden } = this.#state;
    if (destination === "skipped" || destination === "fonts" || isHidden) return;
    this.#texts[destination] += text;
  }

  #endParagraph(): void {
    this.#decode();
    const { destination } = this.#state;
    if (destination === "note") return this.#write(" ");
    if (destination !== "body") return;
    if (this.#isTable) return this.#write(" ");
    this.#endTable();
    const text = this.#take();
    const level = this.#level;
    if (text === "") return;
    this.#blocks.push(level === undefined ? { kind: "paragraph", text } : { kind: "heading", level, text });
  }

  #endNote(): void {
    const text = spaced(this.#texts.note);
    this.#texts.note = "";
    if (text !== "") this.#notes.push({ kind: "paragraph", text });
  }

  #endCell(): void {
    if (this.#state.destination === "body") this.#cells.push(this.#take());
  }

  #endRow(): void {
    if (this.#cells.some((cell) => cell !== "")) this.#rows.push(this.#cells);
    this.#cells = [];
  }

  #endTable(): void {
    this.#endRow();
    if (this.#rows.length > 0)
      this.#blocks.push({ kind: "table", text: this.#rows.map((row) => `| ${row.join(" | ")} |`).join("\n") });
    this.#rows = [];
  }

  #take(): string {
    const text = spaced(this.#texts.body);
    this.#texts.body = "";
    return text;
  }
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
