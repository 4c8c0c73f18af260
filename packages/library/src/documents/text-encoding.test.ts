import { describe, expect, test } from "vitest";
import { decodeBytes } from "toolyard/text";
import { decodeText } from "./read-text.ts";

/** Encodes a text by inverting the decoder, for encodings with one or two bytes per character. */
function encode(text: string, label: string): Buffer {
  const bytes = new Map<string, readonly number[]>();
  const note = (codes: readonly number[]): void => {
    try {
      const character = decodeBytes(label, Uint8Array.from(codes), { fatal: true });
      if (Array.from(character).length === 1 && !bytes.has(character)) bytes.set(character, codes);
    } catch {
      // These bytes do not encode a character.
    }
  };
  for (let first = 0; first < 256; first += 1) note([first]);
  if (/jis|gb/.test(label))
    for (let first = 0x81; first < 0xff; first += 1)
      for (let second = 0x40; second < 0xff; second += 1) note([first, second]);
  return Buffer.from(Array.from(text).flatMap((character) => bytes.get(character) ?? [0x3f]));
}

const RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.";
const GREEK = "Όλοι οι άνθρωποι από τη φύση τους επιθυμούν τη γνώση, και η αγάπη των αισθήσεων το δείχνει.";
const JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
const CHINESE = "道可道，非常道。名可名，非常名。这是一个关于中国的故事，他们在那里生活了很多年。";

describe("decodeText", () => {
  test.each([
    ["koi8-r", "KOI8-R", RUSSIAN],
    ["koi8-r", "KOI8-R", `Title in English\n\n${RUSSIAN}`],
    ["windows-1251", "Windows-1251", RUSSIAN],
    ["windows-1253", "Windows-1253", GREEK],
    ["shift_jis", "Shift-JIS", JAPANESE],
    ["gb18030", "GB18030", CHINESE],
  ])("recognises %s", (label, name, text) => {
    expect(decodeText(encode(text, label))).toEqual({ text, warnings: [`It is not UTF-8, and was read as ${name}.`] });
  });

  test.each([
    ["French", "L’été à Nîmes, où l’âme s’élève : « œuvre » – c’est ça… Noël, cœur, naïve, forêt, 25 €"],
    ["French in capitals", "L’ÉTÉ À NÎMES, OÙ L’ÂME S’ÉLÈVE. ÉDITÉE EN 1878, PRÉFACE DE L’ŒUVRE COMPLÈTE"],
    ["German", "Größe und Fülle, Übermaß der Äußerungen, „Straße“, heißt süß"],
    ["Spanish", "¿Qué será, será? ¡Niño, mañana el corazón está aquí! La acción y la razón"],
    ["Portuguese", "A criação, os corações e as ações são ações não à toa; pães, mãe, é possível"],
    ["Danish", "Rødgrød med fløde på ærø, blåbærgrød, øål, ÆØÅ"],
    ["Finnish", "Hääyöaie, työyöaie, säätää pöytään, hyvää yötä"],
    ["one sign", "Price: 20 €"],
    ["signs only", "§ 1 — “one” … © 1999 · ½ ± 3°"],
    ["Icelandic", "Það er fallegt á Íslandi, þú og ég, ævintýri í hörðum heimi"],
  ])("reads Windows-1252 with %s", (_language, text) => {
    expect(decodeText(encode(text, "windows-1252"))).toMatchObject({ text });
  });

  test("rejects Mac Roman, because Windows-1252 has other letters for the same bytes", () => {
    // é, è, à, ê, ç, É of Mac Roman.
    const mac: Readonly<Record<string, number>> = { é: 0x8e, è: 0x8f, à: 0x88, ê: 0x90, ç: 0x8d, ô: 0x99, î: 0x94 };
    const text = "la vérité première, à la fenêtre, c'est ça, le rôle du maître, été, élève, même, très déçu";
    const bytes = Buffer.from(Array.from(text, (character) => mac[character] ?? character.charCodeAt(0)));
    expect(() => decodeText(bytes)).toThrow("Save it as UTF-8");
  });

  test.each([
    ["random bytes", Buffer.from(Array.from({ length: 400 }, (_, at) => 0x80 + ((at * 73 + at * at) % 128)))],
    ["Mac Roman Greek", Buffer.from("caf\x8e, fr\x8fre, \x8dela, t\x90te, \x8el\x8fve, d\x8e\x8du", "latin1")],
  ])("rejects %s", (_case, bytes) => {
    expect(() => decodeText(bytes)).toThrow("was not recognised");
  });
});
