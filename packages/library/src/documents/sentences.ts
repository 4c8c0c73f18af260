/** Maximum number of characters per call of the segmenter, which examines its whole input for each sentence. */
const WINDOW = 8_000;

/** Divides text into sentences by the rules of its language. Very long sentences are divided at window ends. */
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
      // The last sentence may continue after the window.
      const isRest = start + window.length === text.length || own.length === 1;
      for (const end of isRest ? own : own.slice(0, -1)) ends.push(end);
    }
    return ends;
  }

  /** Returns the end of the window, which never splits a character. */
  #windowEnd(text: string, start: number): number {
    const end = Math.min(start + WINDOW, text.length);
    return end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
  }
}
