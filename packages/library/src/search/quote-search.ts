import { placeIn, plainPieces, type PlainPiece } from "./plain-text.ts";

/** Range of a quotation in a text. */
export type QuoteRange = readonly [from: number, to: number];

/**
 * Finds a quotation in texts that arrive in pieces (Knuth, Morris and Pratt, 1977). Time and memory stay linear, also
 * for repeated letters and long quotations.
 */
export class QuoteSearch {
  /** The normalised quotation. An empty quotation matches nowhere. */
  readonly #wanted: string;
  /** For each matched length: the next shorter length that matches too. */
  readonly #shorter: Uint32Array;

  constructor(quote: string) {
    this.#wanted = Array.from(plainPieces(quote), ({ text }) => text)
      .join("")
      .trim();
    this.#shorter = shorterFits(this.#wanted);
  }

  /** Yields each place of the quotation in the text. Yields undefined after each piece, so that a caller can pause. */
  *placesIn(text: string): Generator<QuoteRange | undefined, void> {
    const wanted = this.#wanted;
    if (wanted === "") return;
    /** Start positions of the most recent letters in the text. */
    const starts = new Uint32Array(wanted.length);
    let [fits, count] = [0, 0];
    for (const piece of plainPieces(text)) {
      for (let at = 0; at < piece.text.length; at += 1) {
        const [from, to] = placeIn(piece, at);
        starts[count % wanted.length] = from;
        count += 1;
        fits = this.#after(fits, piece, at);
        if (fits < wanted.length) continue;
        yield [starts[count % wanted.length]!, to];
        fits = this.#shorter[fits - 1]!;
      }
      yield undefined;
    }
  }

  #after(fits: number, { text }: PlainPiece, at: number): number {
    const letter = text.charCodeAt(at);
    let now = fits;
    while (now > 0 && this.#wanted.charCodeAt(now) !== letter) now = this.#shorter[now - 1]!;
    return this.#wanted.charCodeAt(now) === letter ? now + 1 : now;
  }
}

function shorterFits(wanted: string): Uint32Array {
  const shorter = new Uint32Array(wanted.length);
  for (let at = 1, fits = 0; at < wanted.length; at += 1) {
    while (fits > 0 && wanted.charCodeAt(at) !== wanted.charCodeAt(fits)) fits = shorter[fits - 1]!;
    if (wanted.charCodeAt(at) === wanted.charCodeAt(fits)) fits += 1;
    shorter[at] = fits;
  }
  return shorter;
}
