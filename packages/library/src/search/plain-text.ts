/** A normalised text, with the original position of each of its letters. */
export interface PlainText {
  readonly text: string;
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

/** Letters, digits and punctuation marks whose number of characters does not change when they are normalised. */
const WORD = String.raw`[A-Za-z0-9À-ÅÇ-ÖØ-åç-öø-ÿ,.()’']`;
/** Typographic variants and their common form. Longer variants come first. */
const PIECES: readonly (readonly [source: string, own: string | undefined])[] = [
  // Most of a text: words with single spaces between them, as one piece. No other rule applies within such a piece.
  [String.raw`${WORD}{1,100}(?: ${WORD}{1,100}){0,20}(?!\p{M})`, undefined],
  // A word divided at the end of a line may be hyphenated or not, so hyphens within words are ignored.
  [String.raw`(?<=[\p{L}\p{M}])[-‐‑\u00ad]\s*(?=\p{L})`, ""],
  [String.raw`(?<=\d)\s*[-‐‑‒–]\s*(?=\d)`, "-"],
  [String.raw`\s*(?:--+|[‒–—―])\s*|\s+-\s+`, " - "],
  [String.raw`[«„]\s*|\s*»|[“”‟″"]`, '"'],
  ["[’‘‛ʼ′`]", "'"],
  // French typography puts a space before these marks.
  [String.raw`\s+(?=[;:!?])|[\u00ad\u200b-\u200d\u2060\ufeff]`, ""],
  [String.raw`\s+`, " "],
  // A letter with its accents. Longer runs of accents are divided: normalising them takes quadratic time.
  [String.raw`\P{M}\p{M}{0,30}|\p{M}`, undefined],
];
const PIECE = new RegExp(PIECES.map(([source]) => `(${source})`).join("|"), "gu");

/** A normalised part of a text, with its range in the original text. */
export interface PlainPiece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Yields a normalised text piece by piece. Ignores typographic differences: capitals, spaces, combining accents,
 * ligatures, hyphens within words and at line ends, kinds of dashes, apostrophes and quotation marks. The time is
 * proportional to the length of the text.
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

/**
 * Returns the original range of one letter of a piece. If normalising changed the number of letters, returns the range
 * of the whole piece.
 */
export function placeIn({ text, from, to }: PlainPiece, at: number): readonly [from: number, to: number] {
  return text.length === to - from ? [from + at, from + at + 1] : [from, to];
}

/** Returns only the normalised text, without positions. */
export function plainLetters(text: string): string {
  const pieces: string[] = [];
  for (const { text: own } of plainPieces(text)) pieces.push(own);
  return pieces.join("");
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

const PLAIN_WORDS = new RegExp(`^(?:${WORD}| )+$`);

function letters(piece: string): string {
  if (PLAIN_WORDS.test(piece)) return piece.toLowerCase().replaceAll("’", "'");
  return piece.normalize("NFKC").toLowerCase().replaceAll("œ", "oe").replaceAll("æ", "ae");
}
