// Tunes the constants of the ranking on some sources of queries, to see what they are worth on another.
import { RANKING } from "../../dist/catalog/search/ranking.js";
import { evaluate, indexOf } from "./benchmark.mjs";

/** Constants of a query's ranking, and factors that each is tried with. Two rounds, one constant at a time. */
const CONSTANTS = ["saturation", "presence", "synonym", "neighbours", "nameCover", "serverShare", "leadWeight"];
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
};

/**
 * `{tuned, shipped, moved}`: nDCG@10 of the source under constants that were tuned without it, and under those of the
 * product.
 */
export function tuneWithout(source, tools, queries) {
  const others = queries.filter((query) => query.source !== source);
  const own = queries.filter((query) => query.source === source);
  const worth = (ranking) => evaluate(indexOf(tools, ranking), others).macro["nDCG@10"];
  let best = PLAIN;
  let value = worth(best);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of CONSTANTS) {
      const from = best;
      for (const factor of FACTORS) {
        const tried = { ...from, [name]: from[name] * factor };
        const worthOfIt = worth(tried);
        if (worthOfIt > value) [best, value] = [tried, worthOfIt];
      }
    }
  }
  const result = (ranking) => evaluate(indexOf(tools, ranking), own).macro["nDCG@10"];
  const moved = CONSTANTS.filter((name) => best[name] !== PLAIN[name]).map(
    (name) => `${name} ${best[name].toFixed(2)}`,
  );
  return { tuned: result(best), shipped: result(RANKING), moved: moved.join(", ") };
}
