import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { replaceFile } from "../../config/edit/replace-file.ts";
import { CONFIG_FILE_NAME } from "../../config/locate.ts";
import { configTemplate } from "../../config/template.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { EXIT, onFile, UsageError } from "../failure.ts";
import { print, printJson } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

interface Options extends SharedOptions {
  readonly output?: string;
  readonly force?: boolean;
}

export const run: CommandAction<Options> = async (_args, options, io) => {
  const path = resolve(io.cwd, options.output ?? CONFIG_FILE_NAME);
  if (existsSync(path) && !options.force)
    throw new UsageError(`${path} exists already. Name another with --output, or overwrite it with --force.`);
  const text = configTemplate(CONFIG_SCHEMA);
  if (existsSync(path)) await replaceFile(path, text);
  else await onFile(path, () => writeNew(path, text));
  if (options.json) await printJson(io.stdout, { path });
  else await print(io.stdout, `Wrote ${path}. Edit it, then: toolyard check && toolyard serve`);
  return EXIT.ok;
};

/** Writes a new file. Removes an incomplete file, which would block the next attempt. */
async function writeNew(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, text);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
