import { OptionError } from "toolyard";
import { UnknownModel } from "../language/choose-models.ts";
import { formatDiagnostic, UNREAD_CODES } from "../language/diagnostics.ts";
import { ProgramError } from "../programs/program-error.ts";
import { readPrograms, type NamedProgram } from "../programs/read-programs.ts";
import { harmless, readAnyFormat, type CommandIo } from "./files.ts";

/**
 * Models of a file in numbers: the one that is wanted, else all. Throws an `OptionError` where not all of the file can
 * be read, no such model is in it, or no program can be made of one.
 */
export async function readWholePrograms(
  name: string,
  io: CommandIo,
  wanted: string | undefined,
): Promise<readonly NamedProgram[]> {
  const { file, diagnostics } = await readAnyFormat(name, io);
  const unread = diagnostics.find(({ code }) => code === "E013" || UNREAD_CODES.has(code));
  if (unread || file.models.length === 0)
    throw new OptionError(harmless(`${name} cannot be read as a whole. ${unread ? formatDiagnostic(unread) : ""}`));
  return refusing(name, async () => readPrograms(file, wanted));
}

/** Runs `work` and converts errors caused by a model into an `OptionError` that names the file. */
export async function refusing<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProgramError || error instanceof UnknownModel)
      throw new OptionError(harmless(`${name}: ${error.message}`), { cause: error });
    throw error;
  }
}
