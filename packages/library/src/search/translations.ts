import { readFile } from "node:fs/promises";
import type { WeightedTerm } from "./term-group.ts";

/** Pairs of languages with a dictionary in this package. `scripts/translations/` generates the files. */
const PAIRS = [["en", "fr"]] as const;
const FOLDER = new URL("translations/", import.meta.url);
/** Weights in the files are percentages of the weight of the best translation. */
const WHOLE = 100;
/** Maximum number of synonyms that are added to a word. */
const MAX_SYNONYMS = 5;
/**
 * Weight of a synonym that shares all its translations with the word. Measured with questions in English and French;
 * half or twice this weight answers about as many questions.
 */
const SYNONYM_WEIGHT = 2;

/** Entries of a dictionary: for each stem its translations, as they are in the file. */
type Entries = ReadonlyMap<string, string>;

const loaded = new Map<string, Promise<Entries>>();

/** Loads the dictionaries between these languages. Undefined if the package has none. Files are read once. */
export async function loadTranslations(languages: Iterable<string>): Promise<Translations | undefined> {
  const own = new Set(languages);
  const pairs = PAIRS.filter((pair) => pair.every((language) => own.has(language)));
  if (pairs.length === 0) return undefined;
  const names = pairs.flatMap(([one, other]) => [`${one}-${other}`, `${other}-${one}`]);
  return new Translations(
    new Map(await Promise.all(names.map(async (name) => [name, await entriesOf(name)] as const))),
  );
}

function entriesOf(name: string): Promise<Entries> {
  const entries = loaded.get(name) ?? readEntries(name);
  loaded.set(name, entries);
  entries.catch(() => loaded.delete(name));
  return entries;
}

async function readEntries(name: string): Promise<Entries> {
  const lines = (await readFile(new URL(`${name}.tsv`, FOLDER), "utf8")).split("\n");
  return new Map(
    lines
      .filter((line) => line !== "")
      .map((line) => [line.slice(0, line.indexOf("\t")), line.slice(line.indexOf("\t") + 1)]),
  );
}

/** Translations and synonyms of stems. */
export class Translations {
  readonly #dictionaries: ReadonlyMap<string, Entries>;

  constructor(dictionaries: ReadonlyMap<string, Entries>) {
    this.#dictionaries = dictionaries;
  }

  /** Returns the languages into which this language is translated. */
  targetsOf(language: string): string[] {
    return Array.from(this.#dictionaries.keys(), (name) => name.split("-") as [string, string])
      .filter(([from]) => from === language)
      .map(([, to]) => to);
  }

  /** Returns the translations of a stem, the most usual first. The weight of the first is 1. */
  of(stem: string, from: string, to: string): WeightedTerm[] {
    const fields = this.#dictionaries.get(`${from}-${to}`)?.get(stem)?.split(" ") ?? [];
    return Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => ({
      term: fields[2 * at]!,
      weight: Number(fields[2 * at + 1]) / WHOLE,
    }));
  }

  /** Returns stems of the same language with the same translations, the nearest first. */
  synonymsOf(stem: string, language: string): WeightedTerm[] {
    const weights = new Map<string, number>();
    for (const to of this.targetsOf(language))
      for (const there of shares(this.of(stem, language, to)))
        for (const { term, weight } of shares(this.of(there.term, to, language)))
          if (term !== stem) weights.set(term, (weights.get(term) ?? 0) + there.weight * weight);
    return Array.from(weights, ([term, weight]) => ({ term, weight: Math.min(1, weight * SYNONYM_WEIGHT) }))
      .toSorted((one, other) => other.weight - one.weight || (one.term < other.term ? -1 : 1))
      .slice(0, MAX_SYNONYMS);
  }
}

/** Returns the terms with weights that add up to 1. */
function shares(terms: readonly WeightedTerm[]): WeightedTerm[] {
  const sum = terms.reduce((all, { weight }) => all + weight, 0);
  return terms.map(({ term, weight }) => ({ term, weight: weight / sum }));
}
