// Generates the dictionaries of the library: `node scripts/translations/build.mjs <folder> [<output>]`, after a build.
// The folder contains the database files of WordNet 3.0 (`index.noun`, …) and `wn-data-fra.tab` of the Open
// Multilingual Wordnet. Two words are translations if both belong to the same synset. A word's frequent senses count
// more. The files contain stems, since the library searches stems.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { isStopWord } from "../../packages/library/dist/search/stop-words.js";
import { folded, Terms, wordsOf } from "../../packages/library/dist/search/terms.js";

/** Maximum number of translations of a stem, and minimum weight of each, relative to the best one. */
const MAX_TRANSLATIONS = 5;
const MIN_WEIGHT = 0.3;
const MIN_LETTERS = 3;
const PARTS_OF_SPEECH = { noun: "n", verb: "v", adj: "a", adv: "r" };
const OUTPUT = fileURLToPath(new URL("../../packages/library/src/search/translations", import.meta.url));

const { positionals } = parseArgs({ allowPositionals: true });
const [folder, output = OUTPUT] = positionals;
if (folder === undefined) throw new Error("Name the folder with the files of WordNet and wn-data-fra.tab.");
const terms = new Terms();
await terms.load(["en", "fr"]);
const english = sensesOf(folder);
const french = lemmasOf(join(folder, "wn-data-fra.tab"));
const pairs = pairsOf();
write("en-fr", pairs);
write(
  "fr-en",
  pairs.map(([en, fr, weight]) => [fr, en, weight]),
);

/** Returns the English words of each synset, with the rank of the sense among the senses of the word. */
function sensesOf(path) {
  const found = new Map();
  for (const [name, part] of Object.entries(PARTS_OF_SPEECH))
    for (const line of readFileSync(join(path, `index.${name}`), "utf8").split("\n")) {
      if (line === "" || line.startsWith(" ")) continue;
      // Format of a line (wndb(5)): lemma pos synset_cnt p_cnt [ptr_symbol...] sense_cnt tagsense_cnt synset_offset...
      const fields = line.trim().split(" ");
      const offsets = fields.slice(6 + Number(fields[3]));
      for (const [rank, offset] of offsets.entries()) add(found, `${offset}-${part}`, { word: fields[0], rank });
    }
  return found;
}

/** Returns the French words of each synset. */
function lemmasOf(path) {
  const found = new Map();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const [synset = "", type = "", word = ""] = line.split("\t");
    if (!type.endsWith(":lemma")) continue;
    // Satellite adjectives have a part of speech of their own in some files, and the offsets of adjectives.
    add(found, synset.replace(/-s$/, "-a"), { word });
  }
  return found;
}

function add(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Returns pairs of an English and a French stem, with the sum of the weights of their shared senses. */
function pairsOf() {
  const weights = new Map();
  for (const [synset, words] of english)
    for (const { word, rank } of words)
      for (const { word: other } of french.get(synset) ?? []) {
        const [en, fr] = [stemOf(word, "en"), stemOf(other, "fr")];
        if (en === undefined || fr === undefined) continue;
        const key = `${en}\t${fr}`;
        weights.set(key, (weights.get(key) ?? 0) + 1 / (1 + rank));
      }
  return Array.from(weights, ([key, weight]) => [...key.split("\t"), weight]);
}

/** Returns the stem of a single word that is not a stop word. */
function stemOf(text, language) {
  const words = wordsOf(text.replaceAll("_", " "));
  const telling = words.filter((word) => !isStopWord(folded(word), language));
  // Words with little meaning are dropped: «se taire» counts as the verb «taire». Several meaningful words, as in
  // «prisoner of war», are not a word.
  if (telling.length !== 1 || words.length - telling.length > 1) return undefined;
  const stems = terms.of(telling[0], language);
  // Words of one or two letters are mostly abbreviations, such as «la» for Louisiana.
  return stems.length === 1 && telling[0].length >= MIN_LETTERS ? stems[0] : undefined;
}

function write(name, list) {
  const entries = new Map();
  for (const [from, to, weight] of list) add(entries, from, [to, weight]);
  const lines = Array.from(entries).flatMap(([from, found]) => {
    const sorted = found.toSorted((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
    const most = sorted[0][1];
    const kept = sorted.filter(([, weight]) => weight >= most * MIN_WEIGHT).slice(0, MAX_TRANSLATIONS);
    // A word without an entry is searched unchanged.
    if (kept.length === 1 && kept[0][0] === from) return [];
    return [`${from}\t${kept.map(([to, weight]) => `${to} ${Math.round((100 * weight) / most)}`).join(" ")}\n`];
  });
  writeFileSync(join(output, `${name}.tsv`), lines.toSorted().join(""));
  console.log(`${name}: ${lines.length} stems`);
}
