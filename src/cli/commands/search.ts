import { EXIT, UsageError } from "../failure.ts";
import { print, printJson } from "../io.ts";
import type { Run, SharedOptions } from "../program.ts";
import { withHub } from "../session.ts";
import { table } from "../table.ts";

interface Options extends SharedOptions {
  readonly limit: string;
}

export const run: Run<Options> = (words, options, io) => {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw new UsageError(`--limit must be a whole number from 1 to 100, got "${options.limit}".`);
  return withHub(options, io, async (hub) => {
    const { hits, total } = await hub.search(words.join(" "), limit);
    if (options.json) await printJson(io.stdout, { total, hits });
    else if (hits.length === 0) await print(io.stdout, "No tools found. Try different keywords or a broader search term.");
    else {
      await print(io.stdout, table(["score", "tool", "description"], hits.map(({ score, name, description }) => [score.toFixed(2), name, description]), io));
      if (total > hits.length) await print(io.stdout, `${total - hits.length} more; --limit shows up to 100.`);
    }
    return EXIT.ok;
  });
};
