import { stat } from "node:fs/promises";
import { OptionError } from "../../core/errors.ts";
import { ChainVerifier } from "../../telemetry/audit/verify-chain.ts";
import { createFilter, type AuditEntry, type AuditFilterOptions } from "../../telemetry/audit/audit-filter.ts";
import { readLines } from "../../telemetry/audit/read-lines.ts";
import { findAuditFiles } from "../audit/audit-files.ts";
import { entryText } from "../audit/audit-text.ts";
import { EXIT, UsageError } from "../failure.ts";
import { followFile } from "../hub-access/log-file.ts";
import { colorsOf } from "../output/colors.ts";
import { print, printJson, printPainted } from "../output/io.ts";
import { plainLine } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

interface FileOptions extends SharedOptions {
  readonly file?: string;
}

interface AuditSearchOptions extends FileOptions, AuditFilterOptions {
  readonly limit: string;
  readonly follow?: boolean;
}

/** Exit code of `audit verify` for a broken chain. */
const BROKEN = 1;
const MAX_LIMIT = 100_000;

/** Verifies the chain of hashes in all files of the audit, including rotated files. */
export const verify: CommandAction<FileOptions> = async (_args, options, io) => {
  const { all, key } = await findAuditFiles(options, io);
  const verifier = new ChainVerifier(key);
  for await (const { text, file, line } of readLines(all, io.interrupted)) verifier.add(text, file, line);
  const report = verifier.report();
  const isBroken = report.findings.length > 0 || (report.chains === 0 && report.lines > 0);
  if (options.json) await printJson(io.stdout, { files: all, isIntact: !isBroken, ...report });
  else {
    const { red, green, yellow } = colorsOf(io);
    for (const { file, line, problem } of report.findings)
      await printPainted(io.stdout, `${red("broken")}  ${plainLine(file)}:${line} ${plainLine(problem)}`);
    const counts = `${report.lines} lines, ${report.chains} chains, ${report.unchained} lines without a chain`;
    const verdict = isBroken ? (report.chains === 0 ? yellow("no chain") : red("broken")) : green("intact");
    await printPainted(io.stdout, `${verdict}  ${counts}`);
    if (report.chains === 0) await print(io.stderr, "Set `chain = true` in [audit] to link further lines.");
  }
  return isBroken ? BROKEN : EXIT.ok;
};

/** Prints the latest matching entries of the audit. With `--follow`, also prints entries as they are written. */
export const search: CommandAction<AuditSearchOptions> = async (_args, options, io) => {
  const limit = readLimit(options.limit);
  if (options.follow && options.json)
    throw new UsageError("--json prints one document, and --follow has no end. Leave one out.");
  const filter = createFilter(options);
  const { all, current } = await findAuditFiles(options, io);
  const offset = await stat(current).then(
    ({ size }) => size,
    () => 0,
  );
  const found: AuditEntry[] = [];
  for await (const { text } of readLines(all, io.interrupted)) {
    const entry = filter(text);
    if (!entry) continue;
    found.push(entry);
    if (found.length > limit) found.shift();
  }
  if (options.json) await printJson(io.stdout, { entries: found });
  else for (const entry of found) await printPainted(io.stdout, entryText(entry, io));
  if (options.follow)
    await followFile(current, {
      offset,
      signal: io.interrupted,
      onLines: async (lines) => {
        for (const entry of lines.map(filter)) if (entry) await printPainted(io.stdout, entryText(entry, io));
      },
    });
  return EXIT.ok;
};

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new OptionError(`--limit must be a whole number from 1 to ${MAX_LIMIT}, got "${text}".`);
}
