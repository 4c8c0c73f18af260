import { readFile, stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { findGnnFiles, readGnnFile } from "../directory-check.ts";
import { importGnn, type ImportedFile } from "../exports/formats.ts";
import { formatDiagnostic, UNREAD_CODES } from "../language/diagnostics.ts";
import type { GnnFile } from "../language/model.ts";

/** The parts of the environment that a command may use. */
export interface CommandIo {
  readonly cwd: string;
  readStdin(): Promise<string>;
  /** Writes text on standard output. */
  print(text: string): Promise<void>;
  /** Writes text on standard error. */
  say(text: string): Promise<void>;
  /** Writes bytes on standard output. */
  printBytes(bytes: Uint8Array): Promise<void>;
}

/** One text with the name that a person gave it. */
export interface NamedText {
  readonly name: string;
  /** Absolute; none of standard input. */
  readonly path?: string;
  readonly text: string;
}

export const STDIN = "-";

/** Returns the texts of the named files, of all files in the named folders, and of standard input for `-`. */
export async function readTexts(names: readonly string[], io: CommandIo): Promise<readonly NamedText[]> {
  const texts: NamedText[] = [];
  for (const file of await filesIn(names, io))
    texts.push(file === STDIN ? { name: "(standard input)", text: await io.readStdin() } : await readNamed(file, io));
  return texts;
}

/** The files that are named, and all in the folders that are named. Throws an `OptionError` where there is none. */
export async function filesIn(names: readonly string[], io: CommandIo): Promise<readonly string[]> {
  const files: string[] = [];
  for (const name of names) files.push(...(name === STDIN ? [name] : await filesOf(name, io)));
  if (files.length > 0) return files;
  throw new OptionError(`There is no file of GNN in ${names.join(", ")}. Name one that ends in .md, .gnn or .csv.`);
}

async function filesOf(name: string, { cwd }: CommandIo): Promise<readonly string[]> {
  const stats = await stat(resolve(cwd, name)).catch(() => undefined);
  if (!stats) throw new OptionError(`There is no file ${JSON.stringify(name)}.`);
  if (!stats.isDirectory()) return [name];
  return findGnnFiles(name, { recursive: true, base: cwd }).catch((error: Error) => {
    throw new OptionError(`${name} cannot be read: ${error.message}`, { cause: error });
  });
}

async function readNamed(name: string, { cwd }: CommandIo): Promise<NamedText> {
  const path = resolve(cwd, name);
  try {
    return { name, path, text: await readGnnFile(path) };
  } catch (error) {
    throw new OptionError(`${name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads a file of GNN, JSON, XML or CBOR, whatever its extension. */
export async function readAnyFormat(name: string, io: CommandIo): Promise<ImportedFile> {
  const content = name === STDIN ? await io.readStdin() : await readBytes(name, io);
  try {
    return importGnn(content);
  } catch (error) {
    throw new OptionError(`${name} cannot be read. ${(error as Error).message}`, { cause: error });
  }
}

/** Bytes of a file of any format: a model as JSON is several times as long as its GNN. */
const MAX_BYTES = 256 * 1024 * 1024;

async function readBytes(name: string, { cwd }: CommandIo): Promise<Uint8Array> {
  const path = resolve(cwd, name);
  try {
    const stats = await stat(path);
    if (!stats.isFile() && !stats.isDirectory())
      throw new Error("It is no ordinary file. Give what a program writes as standard input, with -.");
    if (stats.size > MAX_BYTES) throw new Error(`It has ${stats.size} bytes; at most ${MAX_BYTES} are read.`);
    return await readFile(path);
  } catch (error) {
    throw new OptionError(`${name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

export interface ToldFile {
  readonly file: GnnFile;
  readonly isWhole: boolean;
}

/** As `readAnyFormat`, with a line on standard error for each place that could not be read. */
export async function readTold(name: string, io: CommandIo): Promise<ToldFile> {
  const { file, diagnostics } = await readAnyFormat(name, io);
  if (file.models.length === 0)
    throw new OptionError(`${name} cannot be read. ${diagnostics[0]?.message ?? "There is no model in it."}`);
  const unread = diagnostics.filter(({ code }) => UNREAD_CODES.has(code));
  for (const diagnostic of unread) await io.say(harmless(`${name}:${formatDiagnostic(diagnostic)}`));
  return { file, isWhole: unread.length === 0 };
}

/** Writes a file that the person named. Throws an `OptionError` where that cannot be done. */
export async function writeTo(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    throw new OptionError(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** A text as a terminal may show it: control characters other than ends of lines are marked. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, "\uFFFD");
}
