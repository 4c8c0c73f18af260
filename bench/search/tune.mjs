// Tunes the constants of the ranking on some sources of queries, and measures their value on another source, which was
// used neither for tuning nor for training the table.
import { RANKING } from "../../packages/toolyard/build/catalog/search/ranking.js";
import { evaluate, indexOf, tableIndexOf } from "./benchmark.mjs";

/** Constants of the ranking by words. `BESIDE` has the constants of the other parts of the ranking. */
const WORDS = ["saturation", "presence", "synonym", "neighbours", "nameCover", "serverShare"];
const BESIDE = ["siblings", "likeness", "kinShare", "blendServerShare"];

/** Start value of each constant before tuning. */
const PLAIN = {
  ...RANKING,
  saturation: 1.2,
  presence: 0.5,
  synonym: 0.3,
  neighbours: 0.5,
  nameCover: 0.5,
  serverShare: 0.5,
  siblings: 0.2,
  likeness: 0.7,
  kinShare: 0.3,
  blendServerShare: 0.3,
};
/** Possible values of `leadWeight`. Words are counted again for each value. */
const LEAD_WEIGHTS = [1, 1.5, 2];

const SEED = 20_261_123;
const DRAWS = 160;
/**
 * Factor of the range from which a constant is drawn: from its plain value divided by this factor to its plain value
 * multiplied by it.
 */
const SPREAD = 2 ** 1.5;
/** Number of the best draws that are averaged. */
const BEST = 32;
const MEASURE = "nDCG@10";

/**
 * Random constants, each evaluated once on every source. To tune without one source, the best draws on the other
 * sources are averaged by their geometric mean. A single best draw follows the few queries of a source; the mean of
 * many does not. `table` must have been trained without the queries: otherwise similarity seems more valuable than it
 * is.
 */
export class Tuning {
  #names;
  #draws = [];

  constructor({ tools, queries, table }) {
    this.#names = table ? [...WORDS, ...BESIDE] : WORDS;
    const next = chance(SEED);
    const rankings = Array.from({ length: DRAWS }, () => this.#draw(next));
    for (const leadWeight of LEAD_WEIGHTS) {
      const lead = { ...PLAIN, leadWeight };
      const { ranked } = table ? tableIndexOf(tools, table, lead) : indexOf(tools, lead);
      for (const ranking of rankings.filter((one) => one.leadWeight === leadWeight))
        this.#draws.push({ ranking, worth: evaluate(ranked(ranking), queries).sources });
    }
  }

  /** Returns `{ranking, told}`: the constants tuned on the other sources. */
  without(source) {
    const worth = (draw) => {
      const others = Object.entries(draw.worth).filter(([name]) => name !== source);
      return others.reduce((sum, [, measures]) => sum + measures[MEASURE], 0);
    };
    const best = this.#draws.toSorted((a, b) => worth(b) - worth(a)).slice(0, BEST);
    const means = [...this.#names, "leadWeight"].map((name) => [
      name,
      Math.exp(best.reduce((sum, { ranking }) => sum + Math.log(ranking[name]), 0) / best.length),
    ]);
    return {
      ranking: { ...PLAIN, ...Object.fromEntries(means) },
      told: means.map(([name, value]) => `${name} ${value.toFixed(2)}`).join(", "),
    };
  }

  #draw(next) {
    const drawn = this.#names.map((name) => [name, PLAIN[name] * SPREAD ** (2 * next() - 1)]);
    const leadWeight = LEAD_WEIGHTS[Math.floor(LEAD_WEIGHTS.length * next())];
    return { ...PLAIN, ...Object.fromEntries(drawn), leadWeight };
  }
}

/** Returns numbers from 0 to 1, the same on each run (mulberry32). */
function chance(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
