const LETTERS_OR_DIGITS = /^[A-Za-z0-9]*$/;
const NON_ASCII = /[^\0-\u007f]/;
/** Characters without a sound: diacritics, and the Cyrillic hard and soft sign. */
const SILENT = /[\u0300-\u036fъьЪЬ]/gu;

/**
 * Letters with an ASCII form that Unicode does not define, or that differs from their base letter. Each pair is a
 * letter in lower case and its form.
 */
const FORM_PAIRS =
  "ä:ae ö:oe ü:ue ß:ss æ:ae œ:oe ø:o ð:d þ:th đ:d ħ:h ı:i ł:l ŋ:n ŧ:t " +
  "а:a б:b в:v г:g ґ:g ѓ:g д:d ђ:dj е:e є:ye ж:zh з:z и:i і:i ї:yi й:y ј:j к:k ќ:k л:l љ:lj м:m н:n њ:nj о:o п:p " +
  "р:r с:s т:t ћ:c у:u ў:u ф:f х:kh ц:ts ч:ch џ:dz ш:sh щ:shch ы:y э:e ю:yu я:ya " +
  "α:a β:v γ:g δ:d ε:e ζ:z η:i θ:th ι:i κ:k λ:l μ:m ν:n ξ:x ο:o π:p ρ:r σ:s ς:s τ:t υ:y φ:f χ:ch ψ:ps ω:o";

const FORMS: ReadonlyMap<string, string> = new Map([
  ["ẞ", "SS"],
  ...FORM_PAIRS.split(" ").map((pair) => pair.split(":") as [letter: string, form: string]),
]);

/**
 * Replaces each character that `forbidden` matches by ASCII letters or digits with a similar sound. A character without
 * such a form becomes one underscore per UTF-16 code unit. The form of a character does not depend on its neighbours,
 * so that a prefix has the same form alone and at the start of a name.
 */
export function transliterate(text: string, forbidden: RegExp): string {
  if (!NON_ASCII.test(text)) return text.replaceAll(new RegExp(forbidden, "g"), "_");
  // Composes the characters, because in file names on macOS diacritics are separate characters.
  const forms = Array.from(text.normalize("NFC"), (char) =>
    forbidden.test(char) ? (readableForm(char) ?? "_".repeat(char.length)) : char,
  );
  // Returns an underscore instead of an empty text, because a prefix must not become empty.
  return forms.join("") || "_";
}

function readableForm(char: string): string | undefined {
  const known = formOf(char);
  if (known !== undefined) return known;
  const base = char.normalize("NFKD").replaceAll(SILENT, "");
  const readable = Array.from(base, (part) => formOf(part) ?? part).join("");
  // Other characters get no form, because the form of, for example, an ellipsis contains dots, which could look like a
  // separator.
  return base !== char && LETTERS_OR_DIGITS.test(readable) ? readable : undefined;
}

function formOf(char: string): string | undefined {
  const form = FORMS.get(char);
  if (form !== undefined) return form;
  const lower = char.toLowerCase();
  const lowerForm = lower === char ? undefined : FORMS.get(lower);
  return lowerForm && `${lowerForm[0]!.toUpperCase()}${lowerForm.slice(1)}`;
}
