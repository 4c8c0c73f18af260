import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { readBeir } from "../measures/beir.ts";
import { evaluate, type Quality } from "../measures/evaluate.ts";
import { timeSearches } from "../measures/timing.ts";
import { queriesOf } from "../moves/move.ts";
import { languageCode } from "../search/language-codes.ts";
import { openTableEmbedder } from "../search/table-embedder.ts";
import { libraryStore } from "../settings.ts";
import { openStore, parseStore } from "../store/open-store.ts";
import { EXIT, type CommandIo } from "./command-io.ts";
import { spoken } from "./words.ts";

export interface EvalOptions {
  readonly beir: string;
  readonly language: string;
  readonly json?: boolean;
}

/**
 * Measures the search quality on a data set with relevance judgements (BEIR). Returns exit code 1 if the search by
 * words and vectors ranks worse than the search by words alone.
 */
export async function evaluateOn(options: EvalOptions, io: CommandIo): Promise<number> {
  return evaluated("", options, io);
}

const evaluated = spoken(async (_none: string, options: EvalOptions, { io, words }) => {
  const language = languageCode(options.language);
  if (language === undefined)
    throw new OptionError(
      `--language must be the code of a language such as en, got ${JSON.stringify(options.language)}.`,
    );
  const collection = await readBeir(resolve(io.cwd, options.beir));
  const table = await openTableEmbedder();
  const embedder = table.languages?.includes(language) === false ? undefined : table;
  const found = await evaluate(collection, { language, embedder, signal: io.signal });
  if (options.json) await io.print(JSON.stringify(found));
  else {
    const { held, byWords, byMeaning, quality } = words.measures;
    const row = (name: string, { ndcg, recall }: Quality): string =>
      `${name.padEnd(24)} ${quality(ndcg.toFixed(3), recall.toFixed(3))}`;
    await io.print(held(words.documents(found.documents), found.questions));
    await io.print(row(byWords, found.words));
    if (found.meaning) await io.print(row(byMeaning, found.meaning));
  }
  return found.meaning && found.meaning.ndcg < found.words.ndcg - TOLERANCE ? EXIT.failed : EXIT.ok;
});

/** Difference that rounding to the printed digits can cause. */
const TOLERANCE = 0.0005;

export interface BenchOptions {
  readonly json?: boolean;
}

/** Measures the response times of this library on this machine. */
export async function bench(options: BenchOptions, io: CommandIo): Promise<number> {
  return timed("", options, io);
}

const timed = spoken(async (_none: string, options: BenchOptions, { io, words }) => {
  const since = performance.now();
  await using store = await openStore(parseStore(libraryStore(io.env)));
  const table = await openTableEmbedder();
  const opened = performance.now() - since;
  const embedder = (await store.embedder()) === table.id ? table : undefined;
  const timing = await timeSearches(store, await queriesOf(store), { embedder, signal: io.signal });
  const rss = process.memoryUsage.rss();
  if (options.json) await io.print(JSON.stringify({ opened, ...timing, rss }));
  else if (!timing) await io.say(words.empty);
  else {
    const { openedIn, times, memory } = words.measures;
    const ms = (time: number): string => time.toFixed(1);
    await io.print(openedIn(ms(opened)));
    await io.print(
      times(timing.questions, { first: ms(timing.first), median: ms(timing.median), most: ms(timing.most) }),
    );
    await io.print(memory((rss / 1e6).toFixed(0)));
  }
  return EXIT.ok;
});
