import { OptionError } from "../../core/errors.ts";
import { withHub } from "../hub-access/session.ts";
import { startedHere, tellMissing, tellStarting } from "../hub-access/still-starting.ts";
import { colorsOf } from "../output/colors.ts";
import { printJson, printPainted, type Io } from "../output/io.ts";
import { table } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { createTokenReport, type TokenReport } from "../tokens/token-report.ts";

interface Options extends SharedOptions {
  readonly limit: string;
}

const MAX_LIMIT = 1000;

/** Shows what the tool lists cost a model, by client, source and tool. */
export const run: CommandAction<Options> = (_args, options, io) => {
  const limit = readLimit(options.limit);
  return withHub(options, io, async (hub, inner) => {
    await startedHere(inner, io);
    const report = await createTokenReport(inner, limit);
    if (options.json) await printJson(io.stdout, report);
    else {
      await printPainted(io.stdout, reportText(report, io));
      await tellStarting(hub, io);
    }
    return tellMissing(inner, options.json === true, io);
  });
};

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new OptionError(`--limit must be a whole number from 1 to ${MAX_LIMIT}, got "${text}".`);
}

function reportText({ lists, sources, tools }: TokenReport, io: Io): string {
  const { bold } = colorsOf(io);
  const listRows = lists.map(({ profile, ...cost }) => [
    profile === undefined ? "every client" : `profile ${profile}`,
    ...[cost.tools, cost.tokens, cost.discoveryTokens].map(String),
  ]);
  const sourceRows = sources.map(({ source, ...cost }) => [source, String(cost.tools), String(cost.tokens)]);
  const toolRows = tools.map(({ name, source, ...cost }) => [
    name,
    source,
    String(cost.tokens),
    String(cost.descriptionTokens),
  ]);
  return [
    `${bold("Tool lists")} (estimated tokens, sent to the model with each request)`,
    table(["client", "tools", "tokens", "in discovery mode"], listRows, io),
    `\n${bold("Sources")}`,
    table(["source", "tools", "tokens"], sourceRows, io),
    `\n${bold("Longest definitions")}`,
    table(["tool", "source", "tokens", "description"], toolRows, io),
  ].join("\n");
}
