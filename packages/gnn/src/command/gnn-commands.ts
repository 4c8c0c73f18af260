import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { checkGnn } from "../checks/check.ts";
import { replaceFile } from "toolyard/service/replace-file";
import { EXPORT_FORMATS, exportGnn, NO_PICKLE, type ExportFormatName } from "../exports/formats.ts";
import { formatDiagnostic } from "../language/diagnostics.ts";
import { chooseModels } from "../language/choose-models.ts";
import { printGnn } from "../language/print.ts";
import type { ProfileName } from "../language/profiles.ts";
import { harmless, readTexts, readTold, STDIN, writeTo, type CommandIo, type NamedText } from "./files.ts";
import { refusing } from "./program-file.ts";
import { forEachFile, withOutput } from "./several-files.ts";
import { toSarif, type CheckedText } from "./sarif.ts";

export { draw } from "./draw.ts";
export { diff, explain, newFile } from "./helper-commands.ts";
export type { CommandIo } from "./files.ts";
export { render } from "./render-command.ts";
export { run } from "./run-command.ts";

/** Exit codes for pipelines. `found`: a file is invalid or differs. `unreadable`: a file cannot be read at all. */
export const EXIT = { ok: 0, found: 1, unreadable: 2 } as const;

export interface CheckOptions {
  readonly profile?: ProfileName;
  readonly json?: boolean;
  readonly sarif?: boolean;
  /** True if notes are omitted. */
  readonly quiet?: boolean;
}

/**
 * Checks files and folders. Returns 1 if one of them is invalid, and 2 if one of several cannot be read. Throws an
 * `OptionError` if the only file cannot be read.
 */
export async function check(names: readonly string[], options: CheckOptions, io: CommandIo): Promise<number> {
  const { texts, isWhole } = await readTexts(names, io);
  const results = texts.map((text) => checkText(text, options));
  await io.print(reportOf(results, options));
  if (!isWhole) return EXIT.unreadable;
  return results.every(({ isValid }) => isValid) ? EXIT.ok : EXIT.found;
}

function checkText({ name, path, text }: NamedText, { profile = "default", quiet = false }: CheckOptions): CheckedText {
  const { diagnostics, isValid } = checkGnn(text, { profile });
  const shown = quiet ? diagnostics.filter(({ severity }) => severity !== "note") : diagnostics;
  return { name, ...(path === undefined ? {} : { path }), isValid, diagnostics: shown };
}

function reportOf(results: readonly CheckedText[], { json, sarif }: CheckOptions): string {
  if (sarif) return JSON.stringify(toSarif(results), undefined, 2);
  if (json)
    return JSON.stringify({
      files: results.map(({ name, isValid, diagnostics }) => ({ file_path: name, is_valid: isValid, diagnostics })),
    });
  const lines = results.flatMap(({ name, diagnostics }) =>
    diagnostics.map((one) => `${name}:${formatDiagnostic(one)}`),
  );
  const valid = results.filter(({ isValid }) => isValid).length;
  const counted = results.length === 1 ? "1 file" : `${results.length} files`;
  return harmless([...lines, `${counted}: ${valid} valid, ${results.length - valid} invalid`].join("\n"));
}

export interface FormatOptions {
  /** True to report the files that are not in the canonical layout, without writing them. */
  readonly check?: boolean;
}

/**
 * Formats files in place; standard input is written to standard output. Returns 1 if a file contains no GNN, and with
 * `check` if a file would change. Throws an `OptionError` if the only file cannot be read.
 */
export async function fmt(names: readonly string[], options: FormatOptions, io: CommandIo): Promise<number> {
  const { texts, isWhole } = await readTexts(names, io);
  let code: number = EXIT.ok;
  for (const one of texts) if (!(await formatOne(one, options, io))) code = EXIT.found;
  return isWhole ? code : EXIT.unreadable;
}

async function formatOne({ name, path, text }: NamedText, options: FormatOptions, io: CommandIo): Promise<boolean> {
  const { file, diagnostics } = checkGnn(text);
  if (diagnostics.some(({ code }) => code === "E013" || code === "E008")) {
    await io.say(harmless(`${name} is not changed: ${diagnostics.map(formatDiagnostic).join(" ")}`));
    return false;
  }
  if (file.isFenced && path !== undefined) {
    await io.say(harmless(`${name} is not changed, because its models are in code fences of a document.`));
    return true;
  }
  const printed = printGnn(file);
  if (options.check) {
    if (printed !== text) await io.print(harmless(name));
    return printed === text;
  }
  if (path === undefined) await io.print(printed);
  else if (printed !== text) await replaceFile(await realpath(path), printed);
  return true;
}

export interface ExportOptions {
  readonly to: string;
  readonly output?: string;
  /** Identifier, name or number of one model. */
  readonly model?: string;
}

/**
 * Converts files of GNN, JSON, XML or CBOR into another format. Several files are written into the folder `output`.
 * Throws an `OptionError` if that is impossible.
 */
export async function exportFiles(names: readonly string[], options: ExportOptions, io: CommandIo): Promise<number> {
  const { to, output } = options;
  const formats = Object.keys(EXPORT_FORMATS);
  if (!Object.hasOwn(EXPORT_FORMATS, to)) {
    const why = to === "pickle" ? ` ${NO_PICKLE}` : "";
    throw new OptionError(`--to must be one of ${formats.join(", ")}, got ${JSON.stringify(to)}.${why}`);
  }
  const { extension: ending } = EXPORT_FORMATS[to as ExportFormatName];
  return forEachFile(names, { io, output, option: "--output", ending }, (name, own) =>
    exportFile(name, withOutput(options, own), io),
  );
}

async function exportFile(name: string, { to, output, model }: ExportOptions, io: CommandIo): Promise<number> {
  const { file, isWhole } = await readTold(name, io);
  const models = await refusing(name, async () => chooseModels(file.models, model));
  const content = exportGnn({ ...file, models: models.map((one) => one.model) }, to as ExportFormatName);
  if (output !== undefined && output !== STDIN) await writeTo(resolve(io.cwd, output), content);
  else if (typeof content === "string") await io.print(content);
  else await io.printBytes(content);
  return isWhole ? EXIT.ok : EXIT.found;
}
