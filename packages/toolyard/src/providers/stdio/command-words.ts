import { OptionError } from "../../core/errors.ts";

/**
 * Splits a command line into words like a POSIX shell: at spaces, with '…', "…" and `\`. Nothing is expanded.
 * Shell-only syntax (pipes, `;`, `&`, redirections) is rejected, since no shell runs the command. Throws an
 * `OptionError`. On Windows, `\` is an ordinary character, as in paths.
 */
export function splitWords(text: string, platform: NodeJS.Platform = process.platform): string[] {
  const reader = new WordReader(platform !== "win32");
  for (let at = 0; at < text.length;) at += reader.take(text, at);
  return reader.end();
}

class WordReader {
  readonly #hasEscapes: boolean;
  readonly #words: string[] = [];
  /** The current word; undefined between two words. */
  #word: string | undefined;
  #quote: string | undefined;

  constructor(hasEscapes: boolean) {
    this.#hasEscapes = hasEscapes;
  }

  /** Reads the text at `at`, and returns the number of characters read. */
  take(text: string, at: number): number {
    const char = text[at]!;
    if (char === "\\" && this.#hasEscapes && this.#quote !== "'") return this.#takeEscaped(text[at + 1]);
    if (this.#quote === undefined) this.#takeBare(char);
    else if (this.#quote === char) this.#quote = undefined;
    else this.#add(char);
    return 1;
  }

  end(): string[] {
    if (this.#quote !== undefined) throw new OptionError(`\`command\` has a ${this.#quote} without its partner.`);
    this.#endWord();
    return this.#words;
  }

  #takeEscaped(next: string | undefined): number {
    if (next === undefined) throw new OptionError("`command` ends with a lone backslash.");
    // Inside "…", a backslash escapes only these characters.
    const keeps = this.#quote === '"' && !'"\\$`'.includes(next);
    this.#add(keeps ? `\\${next}` : next);
    return 2;
  }

  #takeBare(char: string): void {
    if (char === "'" || char === '"') {
      this.#quote = char;
      this.#add("");
    } else if (/\s/.test(char)) {
      this.#endWord();
    } else if ("|;&<>`".includes(char)) {
      throw new OptionError(
        `\`command\` holds \`${char}\`, which only a shell understands. ` +
          `Put it in quotes, or start the shell itself: ["sh", "-c", "…"].`,
      );
    } else this.#add(char);
  }

  #add(text: string): void {
    this.#word = (this.#word ?? "") + text;
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word);
    this.#word = undefined;
  }
}
