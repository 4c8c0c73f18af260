import type { Block } from "./block.ts";
import { isNoteElement, NoteMarks } from "./note-marks.ts";

/** Elements with text that is not part of the page's content. */
const SILENT: ReadonlySet<string> = new Set(
  (
    "script style noscript template svg math iframe object embed canvas audio video nav footer aside button select " +
    "textarea dialog menu head title datalist noembed noframes"
  ).split(" "),
);
/** Elements without an end tag. */
const VOID: ReadonlySet<string> = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const ENDS_PARAGRAPH: ReadonlySet<string> = new Set(
  (
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure form header " +
    "hgroup hr html legend li main ol p section summary table tbody td tfoot th thead tr ul"
  ).split(" "),
);
const HEADING = /^h([1-6])$/;
const LISTINGS: ReadonlySet<string> = new Set(["pre", "listing", "plaintext", "xmp"]);
const MAIN: ReadonlySet<string> = new Set(["main", "article"]);
/**
 * Minimum length of content, in characters. If the main part is shorter, the whole page is read. If the text outside of
 * forms is shorter, forms are read too.
 */
const MIN_MAIN = 200;

interface ContentBlock {
  readonly block: Block;
  readonly isMain: boolean;
  readonly isForm: boolean;
  readonly isNote: boolean;
}

/**
 * Builds blocks from the tags and texts of a page, in order. Hidden text is skipped. Notes follow the other text, and
 * their numbers are left out, because both would divide sentences.
 */
export class MarkupBlocks {
  readonly #taken: ContentBlock[] = [];
  /** Number of open elements that are skipped or hidden. */
  #silence = 0;
  #main = 0;
  #forms = 0;
  #code = 0;
  #text = "";
  #heading: number | undefined;
  #rows: string[][] | undefined;
  #tables = 0;
  readonly #marks = new NoteMarks();
  /** For each open element that is read: true if it contains notes. */
  readonly #seen: boolean[] = [];

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (VOID.has(name)) return this.#openVoid(name, attributes);
    const isNote = isNoteElement(attributes);
    if (this.#silence > 0 || (SILENT.has(name) && !isNote) || isHidden(attributes)) this.#silence += 1;
    else this.#openSeen(name, attributes, isNote);
  }

  #openSeen(name: string, attributes: Readonly<Record<string, string>>, isNote: boolean): void {
    if (this.#endsBlock(name) || isNote) this.#end();
    this.#seen.push(isNote);
    this.#marks.open(name, attributes, this.#text.length);
    if (MAIN.has(name)) this.#main += 1;
    if (name === "form") this.#forms += 1;
    this.#heading = levelOf(name) ?? this.#heading;
    if (LISTINGS.has(name)) this.#code += 1;
    if (name === "table") this.#openTable();
    if (name === "tr") this.#rows?.push([]);
  }

  #endsBlock(name: string): boolean {
    return HEADING.test(name) || LISTINGS.has(name) || (ENDS_PARAGRAPH.has(name) && this.#tables === 0);
  }

  close(name: string): void {
    if (VOID.has(name)) return;
    if (this.#silence > 0) {
      this.#silence -= 1;
      return;
    }
    this.#text = this.#marks.close(name, this.#text);
    if (name === "td" || name === "th") this.#endCell();
    if (this.#endsBlock(name) || this.#seen.at(-1) === true) this.#end();
    this.#seen.pop();
    if (name === "caption") this.#endCaption();
    if (LISTINGS.has(name)) this.#code -= 1;
    if (name === "table") this.#closeTable();
    if (MAIN.has(name)) this.#main -= 1;
    if (name === "form") this.#forms -= 1;
  }

  text(text: string): void {
    if (this.#silence === 0) this.#text += text;
  }

  /**
   * Returns the blocks of the page's main part without its forms. Falls back to more of the page if that is too little
   * text.
   */
  blocks(): Block[] {
    this.#end();
    const enough = [
      this.#taken.filter(({ isMain, isForm }) => isMain && !isForm),
      this.#taken.filter(({ isMain }) => isMain),
      this.#taken.filter(({ isForm }) => !isForm),
    ].find((taken) => taken.reduce((sum, { block }) => sum + block.text.length, 0) >= MIN_MAIN);
    const taken = enough ?? this.#taken;
    const notes = taken.filter(({ isNote }) => isNote);
    return [...taken.filter(({ isNote }) => !isNote), ...notes].map(({ block }) => block);
  }

  #openVoid(name: string, { alt = "" }: Readonly<Record<string, string>>): void {
    if (this.#silence > 0) return;
    if (name === "br") this.#text += this.#code > 0 ? "\n" : " ";
    else if (name === "hr") this.#end();
    else if (name === "img" && alt.trim() !== "") this.#text += ` ${alt} `;
  }

  /** A table that contains tables is a page layout, so its text is read as paragraphs. */
  #openTable(): void {
    this.#tables += 1;
    if (this.#tables === 1) this.#rows = [];
  }

  #endCell(): void {
    const row = this.#rows?.at(-1);
    if (!row || this.#tables > 1) return;
    row.push(spaced(this.#text));
    this.#text = "";
  }

  /** Ends a caption, which becomes a paragraph before its table. */
  #endCaption(): void {
    if (this.#tables !== 1) return;
    this.#take("paragraph", spaced(this.#text));
    this.#text = "";
  }

  #closeTable(): void {
    if (this.#tables === 0) return;
    this.#tables -= 1;
    if (this.#tables > 0) return;
    const rows = (this.#rows ?? []).filter((row) => row.some((cell) => cell !== ""));
    this.#rows = undefined;
    const rest = this.#text;
    this.#text = "";
    // A table with one column is a page layout.
    if (rows.every((row) => row.length < 2)) for (const row of rows) this.#take("paragraph", row.join(" "));
    else this.#take("table", rows.map((row) => `| ${row.join(" | ")} |`).join("\n"));
    this.#text = rest;
    this.#end();
  }

  #end(): void {
    const [text, level] = [this.#text, this.#heading];
    this.#text = "";
    this.#heading = undefined;
    if (this.#code > 0) this.#take("code", text.replace(/^\n+/, "").trimEnd());
    else if (level === undefined) this.#take("paragraph", spaced(text));
    else this.#take("heading", spaced(text), level);
  }

  #take(kind: Block["kind"], text: string, level?: number): void {
    if (text === "") return;
    this.#taken.push({
      block: { kind, text, ...(level !== undefined && { level }) },
      isMain: this.#main > 0,
      isForm: this.#forms > 0,
      isNote: this.#seen.includes(true),
    });
  }
}

function levelOf(name: string): number | undefined {
  const level = HEADING.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** Returns whether an element is hidden. Text that a user never sees may be an instruction for a model. */
function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  return (
    "hidden" in attributes ||
    attributes["aria-hidden"] === "true" ||
    /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[0.]+(?![\d.])/i.test(attributes["style"] ?? "")
  );
}
