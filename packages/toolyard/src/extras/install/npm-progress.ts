/** A tarball that npm has downloaded or taken from its cache, as it logs it with `--loglevel=http`. */
const TARBALL = /^npm http (?:fetch|cache) .*\.tgz\b/;
const HTTP_LINE = /^npm http /;
/** Longest unfinished line that is kept. */
const MAX_LINE_CHARS = 16_384;

/** Turns what npm logs into lines for a user: a count in place of each request. */
export class NpmProgress {
  readonly #total: number;
  readonly #say: (line: string) => void;
  #done = 0;
  #rest = "";

  constructor(total: number, say: (line: string) => void) {
    this.#total = total;
    this.#say = say;
  }

  push(text: string): void {
    const lines = `${this.#rest}${text}`.split("\n");
    const rest = lines.pop() ?? "";
    this.#rest = rest.length > MAX_LINE_CHARS ? "" : rest;
    for (const line of lines) this.#line(line.trimEnd());
  }

  end(): void {
    this.push("\n");
  }

  #line(line: string): void {
    if (TARBALL.test(line)) {
      // Packages for other platforms are in the total and are not downloaded, and a request may be repeated.
      this.#done = Math.min(this.#done + 1, this.#total);
      this.#say(`downloaded ${this.#done} of ${this.#total} packages`);
    } else if (line !== "" && !HTTP_LINE.test(line)) this.#say(line);
  }
}
