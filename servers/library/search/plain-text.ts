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
  // Plain letters together, since most are; else a letter with its accents.
  [String.raw`[A-Za-z]+(?!\p{M})|\P{M}\p{M}*|\p{M}`, undefined],
];
const PIECE = new RegExp(PIECES.map(([source]) => `(${source})`).join("|"), "gu");

/**
 * Leaves aside how a text is set: capitals, spaces, accents as signs of their own, ligatures, hyphens within words and
 * at the ends of lines, kinds of dashes, apostrophes and quotation marks.
 */
export function plainText(text: string): PlainText {
  const starts: number[] = [];
  const ends: number[] = [];
  let plain = "";
  for (const match of text.matchAll(PIECE)) {
    const [piece, ...groups] = match;
    const kind = groups.findIndex((group) => group !== undefined);
    const own = PIECES[kind]![1] ?? letters(piece);
    if (own === " " && plain.endsWith(" ")) continue;
    // What became more or fewer letters than it had stands as a whole where it stood.
    const isEven = own.length === piece.length;
    for (let at = 0; at < own.length; at += 1) {
      starts.push(match.index + (isEven ? at : 0));
      ends.push(match.index + (isEven ? at + 1 : piece.length));
    }
    plain += own;
  }
  return { text: plain, starts, ends };
}

function letters(piece: string): string {
  return piece.normalize("NFKC").toLowerCase().replaceAll("œ", "oe").replaceAll("æ", "ae");
}
