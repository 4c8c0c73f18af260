import { OptionError } from "toolyard";
import { formatDiagnostic, UNREAD_CODES } from "../language/diagnostics.ts";
import { viewOf } from "../language/view.ts";
import { ProgramError } from "../programs/program-error.ts";
import type { Program } from "../programs/program.ts";
import { readProgram } from "../programs/read-program.ts";
import { harmless, readAnyFormat, type CommandIo } from "./files.ts";

/** The first model of a file in numbers. Throws an `OptionError` where not all of it can be read. */
export async function readOneProgram(name: string, io: CommandIo): Promise<Program> {
  const { file, diagnostics } = await readAnyFormat(name, io);
  const unread = diagnostics.find(({ code }) => code === "E013" || UNREAD_CODES.has(code));
  const [model] = file.models;
  if (unread || !model)
    throw new OptionError(harmless(`${name} cannot be read as a whole. ${unread ? formatDiagnostic(unread) : ""}`));
  try {
    return readProgram(viewOf(model));
  } catch (error) {
    if (error instanceof ProgramError) throw new OptionError(harmless(`${name}: ${error.message}`), { cause: error });
    throw error;
  }
}
