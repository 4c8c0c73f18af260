/**
 * Characters of Windows-1252 for the bytes 0x80 to 0x9F, by the index of the WHATWG Encoding Standard. Node 20 decodes
 * these bytes as Latin-1, so that quotation marks and the euro sign become control characters.
 */
const WINDOWS_1252 =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

/** Characters of Mac Greek for the bytes from 0x80, by the table of the system's maker. The standard lacks it. */
const MAC_GREEK =
  "Ä¹²É³ÖÜ΅àâä΄¨çéèêë£™îï•½‰ôö¦€ùûü†ΓΔΘΛΞΠß®©ΣΪ§≠°·Α±≤≥¥ΒΕΖΗΙΚΜΦΫΨΩ" +
  "άΝ¬ΟΡ≈Τ«»…\u00a0ΥΧΆΈœ–―“”‘’÷ΉΊΌΎέήίόΏύαβψδεφγηιξκλμνοπώρστθωςχυζϊϋΐΰ\u00ad";
const MAC_GREEK_LABEL = "x-mac-greek";

/**
 * Decodes bytes by a label of the WHATWG Encoding Standard: `windows-1252`, and its other labels such as `latin1` and
 * `iso-8859-1`, on every supported version of Node. The label `x-mac-greek` is supported too. Throws a `RangeError` for
 * an unknown label, and a `TypeError` for invalid bytes if `fatal` is set.
 */
export function decodeBytes(label: string, bytes: Uint8Array, options: { readonly fatal?: boolean } = {}): string {
  if (label === MAC_GREEK_LABEL) return decodeTable(bytes, MAC_GREEK);
  const decoder = new TextDecoder(label, options);
  if (decoder.encoding !== "windows-1252") return decoder.decode(bytes);
  return decodeTable(bytes, WINDOWS_1252);
}

/** Decodes bytes as Latin-1, except those from 0x80 for which the table has a character. */
function decodeTable(bytes: Uint8Array, table: string): string {
  const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return latin.replaceAll(/[\u0080-\u00ff]/g, (character) => table[character.charCodeAt(0) - 0x80] ?? character);
}
