import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfigFile } from "../../config/edit/config-file.ts";
import { serversOf, type ServerPlace } from "../../config/edit/sources.ts";
import type { TomlDocument } from "../../config/edit/toml-document.ts";
import { CONFIG_FILE_NAME, locateConfig } from "../../config/locate.ts";
import { nearest } from "../../core/text/suggest.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { UsageError } from "../failure.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";

/** Returns the file to change: the last named file, the file in force in this folder, or a new file in this folder. */
export function fileToAddTo(options: SharedOptions, io: Io): string {
  return locateConfig(options.config ?? [], io.env, io.cwd).at(-1) ?? join(io.cwd, CONFIG_FILE_NAME);
}

/** A configuration file in force, with its parsed content. */
export interface OpenConfigFile {
  readonly path: string;
  readonly document: TomlDocument;
}

/** Opens the files in force, those with the highest precedence first. Throws a `UsageError` if there is none. */
export async function openFiles(options: SharedOptions, io: Io): Promise<readonly OpenConfigFile[]> {
  const files = locateConfig(options.config ?? [], io.env, io.cwd);
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) throw new UsageError(`There is no file ${missing}. Name another with --config.`);
  if (files.length === 0)
    throw new UsageError(
      "There is no toolyard.toml here. `toolyard add` writes one, `toolyard init` a commented one, --config names one.",
    );
  return Promise.all(files.toReversed().map(async (path) => ({ path, document: await readConfigFile(path) })));
}

/** Returns the server with this name, and its file. */
export function serverNamed(
  files: readonly OpenConfigFile[],
  name: string,
): { readonly file: OpenConfigFile; readonly server: ServerPlace } | undefined {
  for (const file of files) {
    const server = serversOf(file.document.tree, CONFIG_SCHEMA).find((one) => one.name === name);
    if (server) return { file, server };
  }
  return undefined;
}

/** Returns the error for a name that no file contains. */
export function noSuchServer(files: readonly OpenConfigFile[], name: string): UsageError {
  const known = [
    ...new Set(files.flatMap(({ document }) => serversOf(document.tree, CONFIG_SCHEMA).map(({ name: one }) => one))),
  ];
  const [near] = nearest(name, known, 1);
  const where = files.map(({ path }) => path).join(", ");
  if (near !== undefined) return new UsageError(`There is no server "${name}" in ${where}. Did you mean "${near}"?`);
  const listed = known.length === 0 ? "It has none." : `There are ${known.join(", ")}.`;
  return new UsageError(`There is no server "${name}" in ${where}. ${listed}`);
}
