// Tunes the constants of the ranking on some sources of queries, to see what they are worth on another that took no
// part in it: neither in the tuning nor, with a table of its own, in what the table has learnt.
import { RANKING } from "../../dist/catalog/search/ranking.js";
import { evaluate, indexOf, tableIndexOf } from "./benchmark.mjs";

/** Constants of a query's ranking by words, and of what is beside them. Two rounds, one constant at a time. */
const WORDS = ["saturation", "presence", "synonym", "neighbours", "nameCover", "serverShare", "leadWeight"];
const BESIDE = ["siblings", "likeness", "kinShare", "blendServerShare"];
/** What each is multiplied with. */
const FACTORS = [0.5, 0.75, 1.4, 2];
const ROUNDS = 2;

/** Begins where all constants stand at a plain value, not where tuning on all sources has led. */
const PLAIN = {
  ...RANKING,
  saturation: 1.2,
  presence: 0.5,
  synonym: 0.3,
  neighbours: 0.5,
  nameCover: 0.5,
  serverShare: 0.5,
  leadWeight: 1.5,
  siblings: 0.2,
  likeness: 0.7,
  kinShare: 0.3,
  blendServerShare: 0.3,
};

/**
 * `{tuned, shipped, moved}`: what the source's queries come to under constants that were tuned without it, and under
 * those of the product. With a table, constants of words are tuned first, by words alone, then those beside them.
 */
export function tuneWithout(source, { tools, queries, table }) {
  const others = queries.filter((query) => query.source !== source);
  const own = queries.filter((query) => query.source === source);
  const macro = (search) => evaluate(search, others).macro["nDCG@10"];
  const words = bestOf(PLAIN, WORDS, (ranking) => macro(indexOf(tools, ranking)));
  if (!table) return report(words, (ranking) => evaluate(indexOf(tools, ranking), own));
  const index = tableIndexOf(tools, table, words);
  const whole = bestOf(words, BESIDE, (ranking) => macro(index.ranked(ranking)));
  return report(whole, (ranking) => evaluate(tableIndexOf(tools, table, ranking).search, own));
}

function bestOf(from, names, worthOf) {
  let best = from;
  let value = worthOf(best);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) {
      const before = best;
      for (const factor of FACTORS) {
        const tried = { ...before, [name]: before[name] * factor };
        const worth = worthOf(tried);
        if (worth > value) [best, value] = [tried, worth];
      }
    }
  }
  return best;
}

function report(best, measure) {
  const moved = [...WORDS, ...BESIDE]
    .filter((name) => best[name] !== PLAIN[name])
    .map((name) => `${name} ${best[name].toFixed(2)}`);
  return { tuned: measure(best), shipped: measure(RANKING), moved: moved.join(", ") };
}
