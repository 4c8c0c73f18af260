import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { OptionError } from "toolyard";
import { filesIn, harmless, STDIN, type CommandIo } from "./files.ts";
import { outputPaths } from "./output-paths.ts";

export interface EachFileOptions {
  readonly io: CommandIo;
  /** Output file for one input file; output folder for several. */
  readonly output: string | undefined;
  /** Name of the option for `output`. */
  readonly option: "--output" | "--plot";
  /** Extension of the output files. */
  readonly ending: string;
  /** True if the results of several files are printed when there is no output folder. */
  readonly isPrinted?: boolean;
}

/** Returns a copy of the options with another `output`. */
export function withOutput<T extends { readonly output?: string }>(options: T, output: string | undefined): T {
  const { output: _, ...rest } = options;
  return { ...rest, ...(output === undefined ? {} : { output }) } as T;
}

/** Exit code if an input file is refused. The other files are still processed. */
const REFUSED = 2;

/**
 * Runs an operation on each named file, and on all GNN files of a folder. Returns the highest exit code. Throws an
 * `OptionError` if the only file is refused, or if several files have no output folder.
 */
export async function forEachFile(
  names: readonly string[],
  options: EachFileOptions,
  work: (name: string, output: string | undefined, isSeveral: boolean) => Promise<number>,
): Promise<number> {
  const { io, output } = options;
  const files = await filesIn(names, io);
  if (names.length === 1 && files.length === 1 && files[0] === names[0]) return work(files[0]!, output, false);
  const outputs = await outputsOf(files, options);
  let code = 0;
  for (const [index, file] of files.entries()) {
    const own = await work(file, outputs[index], files.length > 1).catch((error: unknown) => refused(error, io));
    code = Math.max(code, own);
  }
  return code;
}

async function refused(error: unknown, io: CommandIo): Promise<number> {
  if (!(error instanceof OptionError)) throw error;
  await io.say(harmless(error.message));
  return REFUSED;
}

/** Returns an output path for each file, or undefined if the results are printed. */
async function outputsOf(
  files: readonly string[],
  { io, output, option, ending, isPrinted = false }: EachFileOptions,
): Promise<readonly (string | undefined)[]> {
  if (files.includes(STDIN))
    throw new OptionError("Standard input (-) cannot be combined with files. Omit the other files.");
  if (output === undefined && isPrinted) return [];
  if (output === undefined || output === STDIN)
    throw new OptionError(
      `${files.length === 1 ? "1 file is" : `${files.length} files are`} read. ` +
        `Name an output folder with ${option}.`,
    );
  const outputs = outputPaths(files, ending).map((path) => join(output, path));
  for (const folder of new Set([output, ...outputs.map(dirname)]))
    await mkdir(resolve(io.cwd, folder), { recursive: true }).catch((error: Error) => {
      throw new OptionError(`The folder ${folder} cannot be created: ${error.message}`, { cause: error });
    });
  return outputs;
}
