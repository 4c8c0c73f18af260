import { OptionError } from "toolyard";
import { UnknownModel } from "../language/choose-models.ts";
import { formatDiagnostic, UNREAD_CODES } from "../language/diagnostics.ts";
import { invalidNote, withNote } from "../programs/invalid-note.ts";
import { ProgramError } from "../programs/program-error.ts";
import { readPrograms, type NamedProgram } from "../programs/read-programs.ts";
import { harmless, readAnyFormat, type CommandIo } from "./files.ts";

/** Programs of a file. */
export interface FilePrograms {
  readonly programs: readonly NamedProgram[];
  /** True if the file has no error. If it has one, each program has a note about it. */
  readonly isValid: boolean;
}

/**
 * Returns the models of a file as programs: the requested one, or all. Throws an `OptionError` if a part of the file
 * cannot be read, if it does not contain the model, or if a model cannot become a program.
 */
export async function readWholePrograms(
  name: string,
  io: CommandIo,
  wanted: string | undefined,
): Promise<FilePrograms> {
  const { file, diagnostics } = await readAnyFormat(name, io);
  const unread = diagnostics.find(({ code }) => code === "E013" || UNREAD_CODES.has(code));
  if (unread || file.models.length === 0)
    throw new OptionError(harmless(`A part of ${name} cannot be read. ${unread ? formatDiagnostic(unread) : ""}`));
  const note = invalidNote(diagnostics);
  const programs = await refusing(name, async () => withNote(readPrograms(file, wanted), note));
  return { programs, isValid: note === undefined };
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
