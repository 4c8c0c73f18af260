import { readFile, stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { findGnnFiles, readGnnFile } from "../directory-check.ts";
import { importGnn, type ImportedFile } from "../exports/formats.ts";
import { formatDiagnostic, UNREAD_CODES } from "../language/diagnostics.ts";
import { hasSections } from "../language/fences.ts";
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

/** A text with the name that the user gave. */
export interface NamedText {
  readonly name: string;
  /** Absolute path; absent for standard input. */
  readonly path?: string;
  readonly text: string;
}

export const STDIN = "-";

/** The texts that could be read. `isWhole` is false if a file could not be read. */
export interface ReadTexts {
  readonly texts: readonly NamedText[];
  readonly isWhole: boolean;
}

/**
 * Reads the named files, all files in the named folders, and standard input for `-`. A file that cannot be read is
 * reported on standard error. Throws an `OptionError` if it is the only one.
 */
export async function readTexts(names: readonly string[], io: CommandIo): Promise<ReadTexts> {
  const texts: NamedText[] = [];
  const files = await filesIn(names, io);
  for (const file of files) {
    const text = await readOne(file, io).catch((error: unknown) => {
      if (files.length === 1 || !(error instanceof OptionError)) throw error;
      return error;
    });
    if (text instanceof OptionError) await io.say(harmless(text.message));
    else texts.push(text);
  }
  return { texts, isWhole: texts.length === files.length };
}

async function readOne(file: string, io: CommandIo): Promise<NamedText> {
  return file === STDIN ? { name: "(standard input)", text: await io.readStdin() } : readNamed(file, io);
}

/**
 * Returns the named files, and the GNN files in the named folders. Files of a folder that contain no GNN, such as a
 * README.md, are reported on standard error. Throws an `OptionError` if there is no file.
 */
export async function filesIn(names: readonly string[], io: CommandIo): Promise<readonly string[]> {
  const files: string[] = [];
  for (const name of names) files.push(...(name === STDIN ? [name] : await filesOf(name, io)));
  if (files.length > 0) return files;
  throw new OptionError(`There is no GNN file in ${names.join(", ")}. Name a file that ends in .md, .gnn or .csv.`);
}

async function filesOf(name: string, io: CommandIo): Promise<readonly string[]> {
  const { cwd } = io;
  const stats = await stat(resolve(cwd, name)).catch(() => undefined);
  if (!stats) throw new OptionError(`There is no file ${JSON.stringify(name)}.`);
  if (!stats.isDirectory()) return [name];
  const found = await findGnnFiles(name, { recursive: true, base: cwd }).catch((error: Error) => {
    throw new OptionError(`${name} cannot be read: ${error.message}`, { cause: error });
  });
  const files: string[] = [];
  for (const file of found)
    if (await mayHoldModel(resolve(cwd, file))) files.push(file);
    else await io.say(harmless(`${file} contains no GNN section and is skipped.`));
  return files;
}

/** Returns whether a file may contain a model. True also for an unreadable file, so that the command reports it. */
async function mayHoldModel(path: string): Promise<boolean> {
  const text = await readGnnFile(path).catch(() => undefined);
  return text === undefined || hasSections(text);
}

async function readNamed(name: string, { cwd }: CommandIo): Promise<NamedText> {
  const path = resolve(cwd, name);
  try {
    return { name, path, text: await readGnnFile(path) };
  } catch (error) {
    throw new OptionError(`${name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads a file of GNN, JSON, XML or CBOR, regardless of its extension. */
export async function readAnyFormat(name: string, io: CommandIo): Promise<ImportedFile> {
  const content = name === STDIN ? await io.readStdin() : await readBytes(name, io);
  try {
    return importGnn(content);
  } catch (error) {
    throw new OptionError(`${name} cannot be read. ${(error as Error).message}`, { cause: error });
  }
}

/** Maximum size of a file of any format, in bytes. A model as JSON is several times as long as its GNN text. */
const MAX_BYTES = 256 * 1024 * 1024;

async function readBytes(name: string, { cwd }: CommandIo): Promise<Uint8Array> {
  const path = resolve(cwd, name);
  try {
    const stats = await stat(path);
    if (!stats.isFile() && !stats.isDirectory())
      throw new Error("It is not a regular file. To read the output of a program, use standard input: -.");
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

/** Like `readAnyFormat`, but reports each unreadable place on standard error. */
export async function readTold(name: string, io: CommandIo): Promise<ToldFile> {
  const { file, diagnostics } = await readAnyFormat(name, io);
  if (file.models.length === 0)
    throw new OptionError(`${name} cannot be read. ${diagnostics[0]?.message ?? "It contains no model."}`);
  const unread = diagnostics.filter(({ code }) => UNREAD_CODES.has(code));
  for (const diagnostic of unread) await io.say(harmless(`${name}:${formatDiagnostic(diagnostic)}`));
  return { file, isWhole: unread.length === 0 };
}

/** Writes an output file that the user named. Throws an `OptionError` if that fails. */
export async function writeTo(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    throw new OptionError(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns text that is safe to print on a terminal: control characters except line feeds and tabs are replaced. */
export function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, "\uFFFD");
}
