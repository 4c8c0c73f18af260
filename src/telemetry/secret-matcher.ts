/** No form of a secret is shorter. */
const PREFIX_CHARS = 3;
const SLOTS = 1 << 14;

/**
 * Finds many texts in one pass. A place of the text is looked at closer only when its first three characters begin one
 * of them, so the cost hardly depends on how many there are; a pattern of as many alternatives would try each of them
 * everywhere.
 */
export class SecretMatcher {
  readonly #isUsed = new Uint8Array(SLOTS);
  /** Longest first, since one may begin like another. */
  readonly #bySlot = new Map<number, string[]>();

  constructor(forms: Iterable<string>) {
    for (const form of [...forms].toSorted((a, b) => b.length - a.length)) {
      if (form.length < PREFIX_CHARS) continue;
      const slot = slotAt(form, 0);
      this.#isUsed[slot] = 1;
      const known = this.#bySlot.get(slot);
      if (known) known.push(form);
      else this.#bySlot.set(slot, [form]);
    }
  }

  /** The text with `replacement` in place of each of them; the same text when it holds none. */
  replace(text: string, replacement: string): string {
    let result = "";
    let taken = 0;
    const end = text.length - PREFIX_CHARS;
    for (let at = 0; at <= end; at += 1) {
      const slot = slotAt(text, at);
      const found =
        this.#isUsed[slot] === 1 ? this.#bySlot.get(slot)!.find((form) => text.startsWith(form, at)) : undefined;
      if (found === undefined) continue;
      result += text.slice(taken, at) + replacement;
      taken = at + found.length;
      at = taken - 1;
    }
    return taken === 0 ? text : result + text.slice(taken);
  }
}

function slotAt(text: string, at: number): number {
  return ((text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) * 31 + text.charCodeAt(at + 2)) & (SLOTS - 1);
}
