import { PatternError } from "./pattern-error.ts";
import { firstChars } from "../core/text/truncate.ts";

const ASCII = 128;

/**
 * Characters that one position of a pattern accepts. A table has the result for each ASCII character; the JavaScript
 * engine decides about other characters.
 */
export class CharSet {
  readonly #ascii: Uint8Array;
  readonly #others: ((char: string) => boolean) | undefined;

  private constructor(ascii: Uint8Array, others?: (char: string) => boolean) {
    this.#ascii = ascii;
    this.#others = others;
  }

  static ofChar(char: string): CharSet {
    const ascii = new Uint8Array(ASCII);
    const code = char.codePointAt(0)!;
    if (code >= ASCII) return new CharSet(ascii, (other) => other === char);
    ascii[code] = 1;
    return new CharSet(ascii);
  }

  /** Parses source for exactly one character: `.`, `[…]`, `\d`, `\p{L}`, `\n`. Throws a `PatternError`. */
  static ofClass(source: string): CharSet {
    const known = CACHE.get(source);
    if (known) return known;
    const one = compileClass(source);
    const ascii = new Uint8Array(ASCII);
    for (let code = 0; code < ASCII; code += 1) ascii[code] = one.test(String.fromCharCode(code)) ? 1 : 0;
    const set = new CharSet(ascii, (char) => one.test(char));
    if (CACHE.size < MAX_CACHED && source.length < MAX_CACHED_CHARS) CACHE.set(source, set);
    return set;
  }

  has(code: number): boolean {
    if (code < ASCII) return this.#ascii[code] === 1;
    return this.#others !== undefined && this.#others(String.fromCodePoint(code));
  }
}

const CACHE = new Map<string, CharSet>();
const MAX_CACHED = 500;
const MAX_CACHED_CHARS = 200;

function compileClass(source: string): RegExp {
  try {
    return new RegExp(`^(?:${source})$`, "u");
  } catch {
    // The class is invalid with `u`. It is compiled again without the flag, because authors write `[\w-.]` and escaped
    // `-` for engines without it.
  }
  // JavaScript reads `\A` as a plain A. The escape is refused, because the author of the pattern did not intend that.
  if (/^\\[A-Za-z]/.test(source)) throw new PatternError(`the escape \`${source}\``);
  try {
    return new RegExp(`^(?:${source})$`);
  } catch {
    throw new PatternError(`the class \`${firstChars(source, 60)}\``);
  }
}
