import type { SearchHit, SearchInstead, SearchReasons } from "../../core/ports/ports.ts";
import { UsageError } from "../failure.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { searchThere } from "../hub-access/search-there.ts";
import { withHub } from "../hub-access/session.ts";
import { startedHere, tellMissing, tellStarting } from "../hub-access/still-starting.ts";
import { table } from "../output/table.ts";

interface Options extends SharedOptions {
  readonly limit: string;
  readonly server?: string;
  readonly readOnly?: boolean;
  readonly why?: boolean;
}

function elsewhere(
  { near, servers, noSuchServer }: SearchInstead = { near: [], servers: [], noSuchServer: false },
  server = "",
): string[] {
  return [
    ...(noSuchServer && server !== "" ? [`There is no server "${server}".`] : []),
    ...(near.length > 0 ? [`Similar names: ${near.join(", ")}.`] : []),
    ...(servers.length > 0 ? [`Servers: ${servers.map(({ id, tools }) => `${id} (${tools})`).join(", ")}.`] : []),
  ];
}

/** Maximum number of description lines on a terminal; `toolyard show` prints all. */
const DESCRIPTION_LINES = 3;

function hitTable(hits: readonly SearchHit[], io: Io): string {
  const rows = hits.map(({ score, name, description }) => [score.toFixed(2), name, description]);
  return table(["score", "tool", "description"], rows, { ...io, maxLines: DESCRIPTION_LINES });
}

const WORDS_ALONE =
  "By words alone: the vectors were not ready within `[search] embedding_wait_ms`. Search again for meaning too.";

const NO_REASONS: SearchReasons = { words: 0, meaning: 0, neighbours: 0, server: 0 };

/** Returns a table with the parts of each hit's score. An exact name has no parts. */
function reasonTable(hits: readonly SearchHit[], io: Io): string {
  const rows = hits.map(({ score, name, why = NO_REASONS }) => [
    score.toFixed(2),
    ...[why.words, why.meaning, why.neighbours, why.server].map((part) => part.toFixed(2)),
    name,
  ]);
  return table(["score", "words", "meaning", "neighbours", "server", "tool"], rows, io);
}

export const run: CommandAction<Options> = (words, options, io) => {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new UsageError(`--limit must be a whole number from 1 to 100, got "${options.limit}".`);
  return withHub(options, io, async (hub, inner) => {
    const filter = {
      ...(options.server !== undefined && { server: options.server }),
      readOnly: options.readOnly === true,
      why: options.why === true,
      nearest: true,
    };
    await startedHere(inner, io);
    const query = words.join(" ");
    const { hits, total, instead, wordsAlone } =
      (await searchThere({ query, limit, filter }, options, io)) ?? (await hub.search(query, limit, filter));
    if (options.json)
      await printJson(io.stdout, { total, hits, ...(instead && { instead }), ...(wordsAlone && { wordsAlone }) });
    else if (hits.length === 0)
      await print(
        io.stdout,
        [
          "No tools found. Try different keywords or a broader search term.",
          ...elsewhere(instead, options.server),
        ].join("\n"),
      );
    else {
      await printPainted(io.stdout, options.why === true ? reasonTable(hits, io) : hitTable(hits, io));
      if (options.why === true && wordsAlone === true) await print(io.stdout, WORDS_ALONE);
      if (total > hits.length) await print(io.stdout, `${total - hits.length} more; --limit shows up to 100.`);
    }
    if (!options.json) await tellStarting(hub, io);
    return tellMissing(inner, options.json === true, io);
  });
};
