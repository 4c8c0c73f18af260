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
  if (/jis|gb|euc|big5/.test(label))
    for (let first = 0x81; first < 0xff; first += 1)
      for (let second = 0x40; second < 0xff; second += 1) note([first, second]);
  return Buffer.from(Array.from(text).flatMap((character) => bytes.get(character) ?? [0x3f]));
}

const RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.";
const GREEK = "Όλοι οι άνθρωποι από τη φύση τους επιθυμούν τη γνώση, και η αγάπη των αισθήσεων το δείχνει.";
const JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
const KOREAN = "사람은 누구나 자유로운 존재로 태어났다. 그러나 도시의 사람들은 이것을 알지 못한다.";
const FRENCH = "Après l’été, la vérité première s’élève à la fenêtre : « ça », dit-il, même très déçu.";
const CHINESE = "道可道，非常道。名可名，非常名。这是一个关于中国的故事，他们在那里生活了很多年。";

describe("decodeText", () => {
  test.each([
    ["koi8-r", "KOI8-R", RUSSIAN],
    ["koi8-r", "KOI8-R", `Title in English\n\n${RUSSIAN}`],
    ["windows-1251", "Windows-1251", RUSSIAN],
    ["windows-1253", "Windows-1253", GREEK],
    ["windows-1253", "Windows-1253", "Εν αρχή ην ο λόγος."],
    ["windows-1253", "Windows-1253", "ΠΕΡΙ ΨΥΧΗΣ: βιβλίο «πρώτο», κεφάλαιο 3 – η ζωή και το σώμα…"],
    ["x-mac-greek", "Mac Greek", GREEK],
    ["x-mac-greek", "Mac Greek", "Εν αρχή ην ο λόγος."],
    ["x-mac-greek", "Mac Greek", `Aristotle, Metaphysics\n\n${GREEK}`],
    ["x-mac-greek", "Mac Greek", "ΠΕΡΙ ΨΥΧΗΣ: βιβλίο «πρώτο», κεφάλαιο 3 – η ζωή και το σώμα…"],
    ["x-mac-greek", "Mac Greek", "Ό,τι είναι ωραίο είναι δύσκολο· ο Σωκράτης μίλησε για τα “είδη”."],
    ["shift_jis", "Shift-JIS", JAPANESE],
    ["gb18030", "GB18030", CHINESE],
    ["euc-jp", "EUC-JP", JAPANESE],
    ["big5", "Big5", "這是一個關於中國的故事，他們在那裡生活了很多年。"],
    ["euc-kr", "EUC-KR", KOREAN],
    ["ibm866", "IBM866", RUSSIAN],
    ["iso-8859-5", "ISO-8859-5", RUSSIAN],
    ["x-mac-cyrillic", "Mac Cyrillic", `${RUSSIAN} Я знаю. Земля, имя, время.`],
    ["windows-1250", "Windows-1250", "Człowiek jest wolny tylko wtedy, gdy sam określa swoje działania, później też."],
    ["iso-8859-2", "ISO-8859-2", "Člověk je svobodný jen tehdy, když sám určuje své jednání; později žil šťastně."],
    [
      "windows-1254",
      "Windows-1254",
      "İnsan özgür doğar, ama her yerde zincire vurulmuştur; çoğu bunu görmez, şaşırır.",
    ],
    ["macintosh", "Mac Roman", FRENCH],
    ["macintosh", "Mac Roman", "Größe und Fülle, Übermaß der Äußerungen, „Straße“, heißt süß"],
    ["macintosh", "Mac Roman", "La razón humana no puede conocer; el niño soñaba, según él, y después llegó el año."],
    ["macintosh", "Mac Roman", "A razão não é suficiente; não há ações sem consequências, à noite, então."],
    ["macintosh", "Mac Roman", "Även små barn förstår att människan är mer än sina handlingar på ön."],
    ["macintosh", "Mac Roman", "“Don’t go,” he said — and “it’s late,” she answered. It was…"],
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
    ["English", "“Don’t go,” he said—and it’s late—“now,” she answered. It was… a café, naïve – déjà vu"],
    ["names of many languages", "Kierkegaard, Søren; Ørsted; Bergström, Åke; Núñez, José; Müller, Jürgen; Conceição"],
    ["English with dashes only", "He came—and went—and came again, as men do—always."],
    ["one sign", "Price: 20 €"],
    ["signs only", "§ 1 — “one” … © 1999 · ½ ± 3°"],
    ["Icelandic", "Það er fallegt á Íslandi, þú og ég, ævintýri í hörðum heimi"],
  ])("reads Windows-1252 with %s", (_language, text) => {
    expect(decodeText(encode(text, "windows-1252"))).toMatchObject({ text });
  });

  test.each([
    ["random bytes", Buffer.from(Array.from({ length: 400 }, (_, at) => 0x80 + ((at * 73 + at * at) % 128)))],
    [
      "IBM850 with German",
      Buffer.from("Gr\x94\xe1e, F\x84lle, sp\x84ter zur\x81ckkehren \x81ber die Stra\xe1e", "latin1"),
    ],
    [
      "IBM850 with Spanish",
      Buffer.from("La raz\xa2n humana, el ni\xa4o, ma\xa4ana, despu\x82s, poblaci\xa2n", "latin1"),
    ],
    ["UTF-8 that is cut", Buffer.from("\u00e9\u00e8\u00e0\u00e7 et la suite, \u00e9t\u00e9", "utf8").subarray(1)],
    ["a compressed file", Buffer.from("\x1f\x8b\x08\x9c\xd3\x8a\xc1\x90\xff\x81\xb7\x9d\xe2\x87\xf1", "latin1")],
  ])("rejects %s", (_case, bytes) => {
    expect(() => decodeText(bytes)).toThrow("was not recognised");
  });
});
