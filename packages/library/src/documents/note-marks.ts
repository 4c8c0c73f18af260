type Attributes = Readonly<Record<string, string>>;

/** An open link or superscript. */
interface OpenMark {
  readonly isLink: boolean;
  /** True if the element declares that it refers to a note, or leads back from one. */
  readonly isDeclared: boolean;
  /** True if a name in the element contains a word for notes. */
  readonly isNamed: boolean;
  /** Length of the text before the element. */
  readonly start: number;
  /** True if a superscript is in the link, or a removed link in the superscript. */
  hasInner: boolean;
}

const ELEMENTS: ReadonlySet<string> = new Set(["a", "sup"]);
/** Roles of DPUB-ARIA 1.1 and types of the EPUB vocabulary. */
const REFERENCE = /(?:^|\s)(?:doc-)?(?:noteref|backlink)(?:\s|$)/;
const NOTE = /(?:^|\s)(?:doc-)?(?:footnote|endnote|rearnote)s?(?:\s|$)/;
/** Names that programs give to references and notes: «fn1», «_ftnref2», «cite_note-3», «footnote-4». */
const NAME = /(?:^|[^a-z])(?:fn|ftn|edn|noterefs?|(?:foot|end|sdfoot|sdend|cite_|side)?(?:notes?|ref))(?![a-z]*page)/i;
/** Mark of a note: a number, a letter or signs, possibly in brackets, or an arrow back to the text. */
const MARK = /^[\s([]*(?:\d{1,4}|\p{L}|[ivxlc]{1,6}|[*†‡§¶‖]{1,4}|[↩↑⤴⏎↵^]\ufe0e?)[\s)\].:]*$/iu;
const SEPARATORS = /^[\s()[\],;–-]*$/;
/** Text after which a superscript number is a note's and not an exponent: a long word, or the end of a sentence. */
const BEFORE_NOTE = /(?:\p{L}{4}|[.,;:!?»”’"'])\s*$/u;
const NUMBER = /^\s*\d{1,3}\s*$/;

/** Returns whether an element contains notes. */
export function isNoteElement({ role = "", "epub:type": type = "" }: Attributes): boolean {
  return NOTE.test(role) || NOTE.test(type);
}

/** Finds the numbers of notes in a text while its elements are opened and closed. */
export class NoteMarks {
  readonly #open: OpenMark[] = [];

  open(name: string, attributes: Attributes, start: number): void {
    if (!ELEMENTS.has(name)) return;
    const { role = "", "epub:type": type = "", href = "", id = "", class: classes = "" } = attributes;
    const fragment = href.includes("#") ? href.slice(href.indexOf("#")) : "";
    this.#open.push({
      isLink: name === "a" && fragment !== "",
      isDeclared: REFERENCE.test(role) || REFERENCE.test(type),
      isNamed: [fragment, id, ...classes.split(/\s+/)].some((own) => NAME.test(own)),
      start,
      hasInner: false,
    });
  }

  /** Returns the text without the number of a note, if the element that is closed is one. */
  close(name: string, text: string): string {
    const mark = ELEMENTS.has(name) ? this.#open.pop() : undefined;
    if (!mark || mark.start > text.length) return text;
    const [before, own] = [text.slice(0, mark.start), text.slice(mark.start)];
    const outer = this.#open.at(-1);
    const isNumber = name === "a" ? isReference(mark, own, outer !== undefined) : isSuperscriptNote(mark, own, before);
    if (outer && (isNumber || name === "sup")) outer.hasInner = true;
    // In a link, the superscript alone does not decide: the link is closed next.
    return isNumber && !(name === "sup" && outer?.isLink === true) ? before : text;
  }
}

function isReference({ isLink, isDeclared, isNamed, hasInner }: OpenMark, text: string, isInner: boolean): boolean {
  if (isDeclared) return true;
  return isLink && (isNamed || hasInner || isInner) && MARK.test(text);
}

function isSuperscriptNote({ isDeclared, isNamed, hasInner }: OpenMark, text: string, before: string): boolean {
  if (isDeclared || (hasInner && SEPARATORS.test(text))) return true;
  return (isNamed && MARK.test(text)) || (NUMBER.test(text) && BEFORE_NOTE.test(before));
}
