/** A text as it is compared, with the place of each of its letters in the text as it is. */
export interface PlainText {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** What printers and keyboards write in different ways, the longer before the shorter, and how it is compared. */
const PIECES: readonly (readonly [source: string, own: string | undefined])[] = [
  // Of a word that was cut at the end of a line nobody can tell whether it has a hyphen, so none counts within words.
  [String.raw`(?<=[\p{L}\p{M}])[-‐‑\u00ad]\s*(?=\p{L})`, ""],
  [String.raw`(?<=\d)\s*[-‐‑‒–]\s*(?=\d)`, "-"],
  [String.raw`\s*(?:--+|[‒–—―])\s*|\s+-\s+`, " - "],
  [String.raw`[«„]\s*|\s*»|[“”‟″"]`, '"'],
  ["[’‘‛ʼ′`]", "'"],
  // In French a space stands before them.
  [String.raw`\s+(?=[;:!?])|[\u00ad\u200b-\u200d\u2060\ufeff]`, ""],
  [String.raw`\s+`, " "],
  // Plain letters together, since most are; else a letter with its accents, of which longer runs are taken apart: to
  // sort them takes quadratic time.
  [String.raw`[A-Za-z]+(?!\p{M})|\P{M}\p{M}{0,30}|\p{M}`, undefined],
];
const PIECE = new RegExp(PIECES.map(([source]) => `(${source})`).join("|"), "gu");

/** A part of a text as it is compared, and where it stands in the text. */
export interface PlainPiece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Yields a text piece by piece, regardless of how it is set: capitals, spaces, accents as signs of their own,
 * ligatures, hyphens within words and at the ends of lines, kinds of dashes, apostrophes and quotation marks. Takes
 * time in proportion to the text.
 */
export function* plainPieces(text: string): Generator<PlainPiece, void> {
  let endsWithSpace = false;
  for (const match of text.matchAll(PIECE)) {
    const [piece, ...groups] = match;
    const kind = groups.findIndex((group) => group !== undefined);
    const own = PIECES[kind]![1] ?? letters(piece);
    if (own === "" || (own === " " && endsWithSpace)) continue;
    endsWithSpace = own.endsWith(" ");
    yield { text: own, from: match.index, to: match.index + piece.length };
  }
}

/** What became more or fewer letters than it had stands as a whole where it stood. */
export function placeIn({ text, from, to }: PlainPiece, at: number): readonly [from: number, to: number] {
  return text.length === to - from ? [from + at, from + at + 1] : [from, to];
}

export function plainText(text: string): PlainText {
  const starts: number[] = [];
  const ends: number[] = [];
  const pieces: string[] = [];
  for (const piece of plainPieces(text)) {
    pieces.push(piece.text);
    for (let at = 0; at < piece.text.length; at += 1) {
      const [from, to] = placeIn(piece, at);
      starts.push(from);
      ends.push(to);
    }
  }
  return { text: pieces.join(""), starts, ends };
}

const PLAIN_LETTERS = /^[A-Za-z]+$/;

function letters(piece: string): string {
  if (PLAIN_LETTERS.test(piece)) return piece.toLowerCase();
  return piece.normalize("NFKC").toLowerCase().replaceAll("œ", "oe").replaceAll("æ", "ae");
}
