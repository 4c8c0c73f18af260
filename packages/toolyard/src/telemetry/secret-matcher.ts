/** Length of the prefix by which forms are indexed. Each form is at least this long. */
const PREFIX_CHARS = 3;
const MAX_SLOTS = 1 << 14;
const MIN_SLOTS = 1 << 8;

/** One encoding of a secret in a text. */
export interface SecretForm {
  readonly text: string;
  /** True if the form matches only without an adjacent letter or digit, since it could be part of a longer word. */
  readonly isWhole: boolean;
}

/**
 * Finds many texts in one pass. A position is examined only if a secret starts with its first three characters, so the
 * cost hardly depends on the number of secrets. A regular expression with as many alternatives would try each of them
 * at every position.
 */
export class SecretMatcher {
  readonly #isUsed: Uint8Array;
  /** Forms by slot, the longest first, since one form may be the start of another. */
  readonly #bySlot = new Map<number, SecretForm[]>();
  readonly #mask: number;

  constructor(forms: Iterable<SecretForm>) {
    const sorted = [...forms].toSorted((a, b) => b.text.length - a.text.length);
    this.#mask = (sorted.length > MIN_SLOTS / 8 ? MAX_SLOTS : MIN_SLOTS) - 1;
    this.#isUsed = new Uint8Array(this.#mask + 1);
    for (const form of sorted) {
      if (form.text.length < PREFIX_CHARS) continue;
      const slot = slotAt(form.text, 0) & this.#mask;
      this.#isUsed[slot] = 1;
      const known = this.#bySlot.get(slot);
      if (known) known.push(form);
      else this.#bySlot.set(slot, [form]);
    }
  }

  /** Returns the text with each secret replaced. Returns the same text if it contains none. */
  replace(text: string, replacement: string): string {
    let result = "";
    let taken = 0;
    for (const { at, form } of this.#find(text)) {
      result += text.slice(taken, at) + replacement;
      taken = at + form.length;
    }
    return taken === 0 ? text : result + text.slice(taken);
  }

  /** Returns the forms that occur in a text. */
  found(text: string): ReadonlySet<string> {
    return new Set(Array.from(this.#find(text), ({ form }) => form));
  }

  *#find(text: string): Generator<{ readonly at: number; readonly form: string }> {
    const end = text.length - PREFIX_CHARS;
    for (let at = 0; at <= end; at += 1) {
      const slot = slotAt(text, at) & this.#mask;
      if (this.#isUsed[slot] !== 1) continue;
      const found = this.#bySlot.get(slot)!.find((form) => text.startsWith(form.text, at) && isMatch(text, at, form));
      if (found === undefined) continue;
      yield { at, form: found.text };
      at += found.text.length - 1;
    }
  }
}

function slotAt(text: string, at: number): number {
  return (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) * 31 + text.charCodeAt(at + 2);
}

function isMatch(text: string, at: number, { text: form, isWhole }: SecretForm): boolean {
  return !isWhole || (startsWord(text, at) && endsWord(text, at + form.length));
}

const WORD = /[\p{L}\p{N}\p{M}]/u;
/** Matches an escape sequence of JSON, a URL or a terminal before a word: `\n`, `\u00e9`, `%3D`, `\x1b[31m`. */
const ESCAPE_BEFORE = new RegExp(
  String.raw`(?:\\[bfnrtv]|\\u[\da-f]{4}|\\x[\da-f]{2}|%[\da-f]{2}|\x1b\[[\d;]{0,16}m)$`,
  "i",
);
const MAX_ESCAPE_CHARS = 20;

function startsWord(text: string, at: number): boolean {
  if (at === 0 || !WORD.test(charAt(text, at)) || !WORD.test(charBefore(text, at))) return true;
  return ESCAPE_BEFORE.test(text.slice(Math.max(0, at - MAX_ESCAPE_CHARS), at));
}

function endsWord(text: string, end: number): boolean {
  return end === text.length || !WORD.test(charBefore(text, end)) || !WORD.test(charAt(text, end));
}

function charAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at)!);
}

function charBefore(text: string, at: number): string {
  const isPair = /[\udc00-\udfff]/.test(text[at - 1]!) && at > 1;
  return isPair ? charAt(text, at - 2) : text[at - 1]!;
}
