import { decodeBytes } from "toolyard/text";
import { DocumentError } from "./document-error.ts";

/** Number of bytes that are examined. */
const SAMPLE_BYTES = 65_536;
/** Minimum share of plausible characters among those that are not ASCII. */
const MIN_PLAUSIBLE = 0.8;
/** Minimum number of characters of a wide encoding. Fewer can be a coincidence. */
const MIN_WIDE = 4;

/** An encoding, with the letters of a language that uses it. */
interface EncodingCandidate {
  readonly label: string;
  readonly name: string;
  /** Letters of the language that are not ASCII, in lower case. */
  readonly letters: ReadonlySet<string>;
  /** Factor of the score, if the letters belong to several languages. @default 1 */
  readonly certainty?: number;
  /** The most frequent letters, if several encodings have the same alphabet. */
  readonly frequent?: RegExp;
}

/** Letters of the languages of Western Europe that are not ASCII. */
const WESTERN = [
  "àâäçéèêëîïôöùûüÿœæ",
  "äöüßéàè",
  "áéíóúüñªº",
  "ãõáâàçéêíóôúüªº",
  "àèéìíòóùúî",
  "àçèéíïòóúü·",
  "åäöéæøü",
  "éëèïöüáóêäç",
  "áðéíóúýþæö",
];
const CENTRAL = ["ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čšžćđ", "ăâîșțşţ"];
const CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўјљњћџђ";
const GREEK = "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ";

/** Encodings of one byte per character. Of equally plausible ones, the first is selected. */
const NARROW: readonly EncodingCandidate[] = [
  ...candidatesOf(["windows-1252", "Windows-1252"], WESTERN),
  ...candidatesOf(["macintosh", "Mac Roman"], WESTERN),
  // All Western letters, because a bibliography contains names of many languages.
  { label: "windows-1252", name: "Windows-1252", letters: new Set(WESTERN.join("")), certainty: 0.9 },
  { label: "macintosh", name: "Mac Roman", letters: new Set(WESTERN.join("")), certainty: 0.8 },
  ...candidatesOf(["windows-1250", "Windows-1250"], CENTRAL),
  ...candidatesOf(["iso-8859-2", "ISO-8859-2"], CENTRAL),
  ...candidatesOf(["windows-1254", "Windows-1254"], ["çğıöşüâîûi̇"]),
  ...candidatesOf(["windows-1253", "Windows-1253"], [GREEK], /[αοιετσνηυςάόίέή]/u),
  ...candidatesOf(["x-mac-greek", "Mac Greek"], [GREEK], /[αοιετσνηυςάόίέή]/u),
  ...(
    [
      ["windows-1251", "Windows-1251"],
      ["koi8-r", "KOI8-R"],
      ["ibm866", "IBM866"],
      ["iso-8859-5", "ISO-8859-5"],
      ["x-mac-cyrillic", "Mac Cyrillic"],
    ] as const
  ).flatMap((encoding) => candidatesOf(encoding, [CYRILLIC], /[оеаинтсрвл]/u)),
];

function candidatesOf(
  [label, name]: readonly [label: string, name: string],
  alphabets: readonly string[],
  frequent?: RegExp,
): EncodingCandidate[] {
  return alphabets.map((letters) => ({ label, name, letters: new Set(letters), ...(frequent && { frequent }) }));
}

/** An encoding of two bytes per character. Texts of other encodings almost never contain common characters in it. */
interface WideEncoding {
  readonly label: string;
  readonly name: string;
  readonly common: RegExp;
  /** Minimum share of common characters among those that are not ASCII. */
  readonly minShare: number;
}

const KANA = /[\u3041-\u30f6]/u;
const WIDE: readonly WideEncoding[] = [
  { label: "shift_jis", name: "Shift-JIS", common: KANA, minShare: 0.2 },
  { label: "euc-jp", name: "EUC-JP", common: KANA, minShare: 0.2 },
  {
    label: "gb18030",
    name: "GB18030",
    common: /[的一是不了在人有我他这中大来上国说们为子和你地出道也时年得就那要下以生会自]/u,
    minShare: 0.1,
  },
  {
    label: "big5",
    name: "Big5",
    common: /[的一是不了在人有我他這中大來上國說們為子和你地出道也時年得就那要下以生會自]/u,
    minShare: 0.1,
  },
  { label: "euc-kr", name: "EUC-KR", common: /[이다는의에을가고한를지은도로하서사기인들]/u, minShare: 0.25 },
];

export interface DecodedText {
  readonly text: string;
  readonly warnings: readonly string[];
}

/**
 * Decodes text without a declared encoding with the encoding that gives the most plausible words. Throws a
 * `DocumentError` if there is none, because a wrong one would be stored as nonsense.
 */
export function decodeUndeclared(bytes: Uint8Array): DecodedText {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const found = wideOf(sample) ?? narrowOf(sample);
  if (found)
    return { text: decodeBytes(found.label, bytes), warnings: [`It is not UTF-8, and was read as ${found.name}.`] };
  const names = new Set([...NARROW, ...WIDE].map(({ name }) => name));
  throw new DocumentError(
    "VALIDATION_ERROR",
    `Its character encoding was not recognised: it is not UTF-8, UTF-16 or one of ${Array.from(names).join(", ")}. ` +
      "Save it as UTF-8.",
    "unknown_encoding",
  );
}

function wideOf(sample: Uint8Array): WideEncoding | undefined {
  return WIDE.map((encoding) => ({ encoding, share: commonShare(encoding, sample) }))
    .filter(({ encoding, share }) => share >= encoding.minShare)
    .toSorted((one, other) => other.share - one.share)[0]?.encoding;
}

/** Returns the share of common characters among those that are not ASCII; 0 if the sample is invalid. */
function commonShare({ label, common }: WideEncoding, sample: Uint8Array): number {
  const characters = decodeSample(label, sample)?.match(/[^\0-\x7f]/gu) ?? [];
  if (characters.length < MIN_WIDE) return 0;
  return characters.filter((one) => common.test(one)).length / characters.length;
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

function narrowOf(sample: Uint8Array): EncodingCandidate | undefined {
  const marks = new Map<string, readonly Mark[]>();
  const marksOf = (label: string): readonly Mark[] => {
    const known = marks.get(label) ?? marksIn(decodeBytes(label, sample));
    marks.set(label, known);
    return known;
  };
  return NARROW.map((candidate) => ({ candidate, ...rate(candidate, marksOf(candidate.label)) }))
    .filter(({ plausible }) => plausible >= MIN_PLAUSIBLE)
    .toSorted((one, other) => other.score - one.score)[0]?.candidate;
}

/** A character that is not ASCII, in lower case. */
interface Mark {
  readonly character: string;
  readonly isLetter: boolean;
  /** True if its place in the text is usual: no sign or capital within a word, no single letter. */
  readonly isPlaced: boolean;
}

/** Signs that texts contain. */
const SIGN = /[\p{Pi}\p{Pf}\u201a\u201e–—…•·°§©®™€£¥¢¿¡†‡‰¼½¾²³¹±×÷µ\u00a0\u00ad№¶¬¦´¨¸¤]/u;
/** Signs that occur between two letters: apostrophes, dashes, hyphens. */
const WITHIN_WORD = /[’–—\u00ad·]/u;
/** Signs with which a text opens. They do not follow a letter. */
const OPENING = /[\u201a\u201e¿¡]/u;
/** Two letters that are not ASCII. */
const ACCENTED_PAIR = /^(?:(?![\0-\x7f])\p{L}){2}$/u;
/** Signs that occur next to other signs. */
const NEXT_TO_SIGNS = /[\p{Pi}\p{Pf}…\u00a0]/u;

function marksIn(text: string): Mark[] {
  return Array.from(text.matchAll(/[^\0-\x7f]/gu), ({ 0: character, index }) =>
    markOf(character, text[index - 1], text[index + character.length]),
  );
}

function markOf(character: string, before = " ", after = " "): Mark {
  const isLetter = /\p{L}/u.test(character);
  const isPlaced = isLetter ? isPlacedLetter(character, before, after) : isPlacedSign(character, before, after);
  return { character: character.toLowerCase(), isLetter, isPlaced };
}

function isPlacedLetter(character: string, before: string, after: string): boolean {
  const isLatin = /\p{Script=Latin}/u.test(character);
  // Words do not mix scripts, and Latin words have no three accented letters in a row.
  if (isLatin ? ACCENTED_PAIR.test(before + after) : /[a-z]/i.test(before + after)) return false;
  // A final sigma ends a word.
  if (character === "ς") return !/\p{L}/u.test(after);
  const isCapital = /\p{Lu}/u.test(character);
  return !isCapital || !(/\p{Ll}/u.test(before) || (/\p{Lu}/u.test(before) && /\p{Ll}/u.test(after)));
}

function isPlacedSign(character: string, before: string, after: string): boolean {
  const isJoined = (other: string): boolean => /\p{L}/u.test(other) || (other > "\x7f" && !NEXT_TO_SIGNS.test(other));
  if (!SIGN.test(character) || (OPENING.test(character) && /\p{L}/u.test(before))) return false;
  return !(isJoined(before) && isJoined(after)) || WITHIN_WORD.test(character);
}

/** Returns the share of plausible characters, and a score that also counts frequent letters. */
function rate(
  { letters, frequent, certainty = 1 }: EncodingCandidate,
  marks: readonly Mark[],
): { readonly plausible: number; readonly score: number } {
  const count = Math.max(marks.length, 1);
  const isOwn = ({ character, isLetter, isPlaced }: Mark): boolean => isPlaced && (!isLetter || letters.has(character));
  const plausible = marks.filter(isOwn).length / count;
  const common = frequent ? marks.filter(({ character }) => frequent.test(character)).length / count : plausible;
  return { plausible, score: (plausible + common) * certainty };
}
