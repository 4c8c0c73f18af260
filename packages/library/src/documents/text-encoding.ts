import { decodeBytes } from "toolyard/text";
import { DocumentError } from "./document-error.ts";

/** Number of bytes that are examined. */
const SAMPLE_BYTES = 65_536;
/** Another encoding is assumed if at least this share of the bytes above 127 is implausible in Windows-1252. */
const FOREIGN_SHARE = 0.4;
/** Minimum number of implausible bytes, because a few of them may be noise in a text of Windows-1252. */
const MIN_FOREIGN = 8;

/** An encoding, with characters that are common in its languages. */
interface EncodingCandidate {
  readonly label: string;
  readonly name: string;
  readonly common: RegExp;
  /** Minimum share of common characters among those that are not ASCII. */
  readonly minShare: number;
}

/** Encodings of two bytes per character. Texts of other encodings almost never contain common characters in them. */
const WIDE: readonly EncodingCandidate[] = [
  { label: "shift_jis", name: "Shift-JIS", common: /[\u3041-\u30f6]/u, minShare: 0.2 },
  {
    label: "gb18030",
    name: "GB18030",
    common: /[的一是不了在人有我他这中大来上国说们为子和你地出道也时年得就那要下以生会自]/u,
    minShare: 0.1,
  },
];
/** Encodings of one byte per character. Their most frequent letters distinguish them. */
const NARROW: readonly EncodingCandidate[] = [
  { label: "koi8-r", name: "KOI8-R", common: /[оеаинтсрвл]/u, minShare: 0.5 },
  { label: "windows-1251", name: "Windows-1251", common: /[оеаинтсрвл]/u, minShare: 0.5 },
  { label: "windows-1253", name: "Windows-1253", common: /[αοιετσνηυςάόίέή]/u, minShare: 0.6 },
];

export interface DecodedText {
  readonly text: string;
  readonly warnings: readonly string[];
}

/**
 * Decodes text without a declared encoding as Windows-1252, or as one of the candidates if the bytes indicate it.
 * Throws a `DocumentError` if no encoding is plausible, because a wrong one would be stored as nonsense.
 */
export function decodeUndeclared(bytes: Uint8Array): DecodedText {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const found = bestOf(WIDE, sample) ?? (isWestern(sample) ? WESTERN : bestOf(NARROW, sample));
  if (found)
    return { text: decodeBytes(found.label, bytes), warnings: [`It is not UTF-8, and was read as ${found.name}.`] };
  throw new DocumentError(
    "VALIDATION_ERROR",
    "Its character encoding was not recognised: it is neither UTF-8, UTF-16, Windows-1252, Windows-1251, " +
      "Windows-1253, KOI8-R, Shift-JIS nor GB18030. Save it as UTF-8.",
    "unknown_encoding",
  );
}

const WESTERN = { label: "windows-1252", name: "Windows-1252" };

/** Three letters above 127 in a row: not in a word of a Western European language. */
const LETTER_RUN = /[À-ÿŠšŽžŸŒœƒ]{3,}/g;
/** A capital inside a word of small letters. */
const INNER_CAPITAL = /\p{Ll}[À-ÖØ-ÞŒŠŽŸ](?=\p{Ll})/gu;
/** A sign between two letters. Quotes and dashes do occur there. */
const INNER_SIGN = /\p{L}[¡-¨«¬®-³µ¶¸¹»-¿†‡‰‹›¤ˆ˜](?=\p{L})/gu;

/** Returns whether bytes above 127 are what Western European texts contain: letters in words, quotes, dashes, signs. */
function isWestern(bytes: Uint8Array): boolean {
  const text = decodeBytes(WESTERN.label, bytes);
  const lengthOf = (pattern: RegExp): number => (text.match(pattern) ?? []).join("").length;
  const high = lengthOf(/[^\0-\x7f]/g);
  const unassigned = lengthOf(/[\x80-\x9f]/g);
  const foreign = unassigned + lengthOf(LETTER_RUN) + lengthOf(INNER_CAPITAL) / 2 + lengthOf(INNER_SIGN) / 2;
  return high < MIN_FOREIGN ? unassigned < 2 : foreign < high * FOREIGN_SHARE;
}

/** Returns the candidate with the largest share of common characters, if one is plausible. */
function bestOf(candidates: readonly EncodingCandidate[], sample: Uint8Array): EncodingCandidate | undefined {
  const rated = candidates.map((candidate) => ({ candidate, share: commonShare(candidate, sample) }));
  const [best] = rated
    .filter(({ candidate, share }) => share >= candidate.minShare)
    .toSorted((one, other) => other.share - one.share);
  return best?.candidate;
}

/** Returns the share of common characters among those that are not ASCII; 0 if the sample is invalid. */
function commonShare({ label, common }: EncodingCandidate, sample: Uint8Array): number {
  const characters = decodeSample(label, sample)?.match(/[^\0-\x7f]/gu) ?? [];
  return characters.filter((one) => common.test(one.toLowerCase())).length / Math.max(characters.length, 1);
}

/** Returns the text of a sample; undefined if it is invalid. The sample may end within a character. */
function decodeSample(label: string, sample: Uint8Array): string | undefined {
  for (let cut = 0; cut < 4; cut += 1) {
    try {
      return decodeBytes(label, sample.subarray(0, sample.length - cut), { fatal: true });
    } catch {
      if (sample.length < SAMPLE_BYTES) return undefined;
    }
  }
  return undefined;
}
