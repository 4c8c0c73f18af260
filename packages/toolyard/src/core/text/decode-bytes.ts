/**
 * Characters of Windows-1252 for the bytes 0x80 to 0x9F, by the index of the WHATWG Encoding Standard. Node 20 decodes
 * these bytes as Latin-1, so that quotation marks and the euro sign become control characters.
 */
const WINDOWS_1252 =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178";

/**
 * Decodes bytes by a label of the WHATWG Encoding Standard: `windows-1252`, and its other labels such as `latin1` and
 * `iso-8859-1`, on every supported version of Node. Throws a `RangeError` for an unknown label, and a `TypeError` for
 * invalid bytes if `fatal` is set.
 */
export function decodeBytes(label: string, bytes: Uint8Array, options: { readonly fatal?: boolean } = {}): string {
  const decoder = new TextDecoder(label, options);
  if (decoder.encoding !== "windows-1252") return decoder.decode(bytes);
  const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return latin.replaceAll(/[\u0080-\u009f]/g, (character) => WINDOWS_1252[character.charCodeAt(0) - 0x80]!);
}
