import { decodeBytes } from "toolyard/text";

/** A part of an RTF file: a group mark, a control word with its number, or text. */
export type RtfToken =
  | { readonly kind: "open" | "close" }
  | { readonly kind: "word"; readonly name: string; readonly number: number | undefined }
  | { readonly kind: "bytes"; readonly bytes: readonly number[] };

const WORD = /([a-z]{1,32})(-?\d{1,10})? ?/y;
const HEX = /([\da-f]{2})/iy;
const PLAIN = /[^\\{}\r\n]+/y;

/** Splits an RTF file into tokens. Text and `\'hh` are bytes in the code page of their font. */
export function* rtfTokens(rtf: string): Generator<RtfToken> {
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(rtf);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < rtf.length) {
    const plain = match(PLAIN);
    if (plain) {
      yield bytesOf(plain[0]);
      continue;
    }
    const character = rtf[at]!;
    at += 1;
    if (character === "{") yield { kind: "open" };
    else if (character === "}") yield { kind: "close" };
    else if (character === "\\") {
      const token = escaped();
      if (token) yield token;
    }
  }

  function escaped(): RtfToken | undefined {
    const word = match(WORD);
    if (word) {
      const number = word[2] === undefined ? undefined : Number(word[2]);
      // Skips binary data. The number of the control word is its length.
      if (word[1] === "bin") at += Math.max(number ?? 0, 0);
      return { kind: "word", name: word[1]!, number };
    }
    const sign = rtf[at] ?? "";
    at += 1;
    if (sign !== "'") return SIGNS[sign] ?? bytesOf(sign);
    const hex = match(HEX);
    return hex ? { kind: "bytes", bytes: [Number.parseInt(hex[1]!, 16)] } : undefined;
  }
}

/** Control symbols. `\-` and `\_` are hyphens for line breaks, of which the second is visible. */
const SIGNS: Readonly<Record<string, RtfToken>> = {
  "*": { kind: "word", name: "*", number: undefined },
  "~": { kind: "bytes", bytes: [0x20] },
  _: { kind: "bytes", bytes: [0x2d] },
  "-": { kind: "bytes", bytes: [] },
  "\n": { kind: "word", name: "par", number: undefined },
  "\r": { kind: "word", name: "par", number: undefined },
};

function bytesOf(text: string): RtfToken {
  return { kind: "bytes", bytes: Array.from(text, (character) => character.charCodeAt(0)) };
}

/** Encodings by Windows code page. */
const CODE_PAGES: Readonly<Record<number, string>> = {
  874: "windows-874",
  932: "shift_jis",
  936: "gb18030",
  949: "euc-kr",
  950: "big5",
  10_000: "macintosh",
  65_001: "utf-8",
};
/** Code pages by `\fcharset`. */
const CHARACTER_SETS: Readonly<Record<number, number>> = {
  77: 10_000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

/** Returns the code page of a font's character set; undefined if the code page of the document applies. */
export function codePageOf(characterSet: number): number | undefined {
  return CHARACTER_SETS[characterSet];
}

/** Decodes bytes of a Windows code page; an unknown one as Windows-1252. */
export function decodeCodePage(bytes: readonly number[], codePage: number): string {
  const isWindows = codePage >= 1_250 && codePage <= 1_258;
  return decodeBytes(
    CODE_PAGES[codePage] ?? (isWindows ? `windows-${codePage}` : "windows-1252"),
    Uint8Array.from(bytes),
  );
}
