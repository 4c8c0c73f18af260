/** The engine looks at all of a text for each sentence of it, so it gets no more than this at a time. */
const WINDOW = 8_000;

/** A text's sentences, as the rules of its language have them; of one without an end, pieces. */
export class Sentences {
  readonly #segmenter: Intl.Segmenter;

  constructor(language = "en") {
    this.#segmenter = new Intl.Segmenter(language, { granularity: "sentence" });
  }

  /** Returns the end of each sentence, in order. */
  endsIn(text: string): number[] {
    const ends: number[] = [];
    for (let start = 0; start < text.length; start = ends.at(-1)!) {
      const window = text.slice(start, this.#windowEnd(text, start));
      const own = Array.from(this.#segmenter.segment(window), ({ index, segment }) => start + index + segment.length);
      // The last one may go on behind the window.
      const isRest = start + window.length === text.length || own.length === 1;
      for (const end of isRest ? own : own.slice(0, -1)) ends.push(end);
    }
    return ends;
  }

  /** Between two signs, never within one. */
  #windowEnd(text: string, start: number): number {
    const end = Math.min(start + WINDOW, text.length);
    return end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
  }
}
