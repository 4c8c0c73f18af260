/** Matches npm's log line (`--loglevel=http`) for a tarball that was downloaded or taken from the cache. */
const TARBALL = /^npm http (?:fetch|cache) .*\.tgz\b/;
const HTTP_LINE = /^npm http /;
/** Maximum length of an unfinished line that is kept. */
const MAX_LINE_CHARS = 16_384;

/** Converts npm's log to lines for a user: a count instead of each request. */
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
      // The count stays below the total, because a request may be repeated. The total includes packages for other
      // platforms, which are not downloaded.
      this.#done = Math.min(this.#done + 1, this.#total);
      this.#say(`downloaded ${this.#done} of ${this.#total} packages`);
    } else if (line !== "" && !HTTP_LINE.test(line)) this.#say(line);
  }
}
