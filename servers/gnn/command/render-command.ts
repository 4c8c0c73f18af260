import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { ProgramError } from "../programs/program-error.ts";
import { RENDER_TARGETS, renderProgram, type RenderTargetName } from "../render/targets.ts";
import { harmless, STDIN, type CommandIo } from "./files.ts";
import { readOneProgram } from "./program-file.ts";
import { precision, wholeNumber } from "./run-command.ts";

export interface RenderCommandOptions {
  readonly to: string;
  readonly output?: string;
  readonly policyLength?: string;
  readonly gamma?: string;
}

/** Writes a model as a program. Throws an `OptionError` where the target cannot express it. */
export async function render(name: string, options: RenderCommandOptions, io: CommandIo): Promise<number> {
  const { to, output, policyLength, gamma } = options;
  const targets = Object.keys(RENDER_TARGETS);
  if (!Object.hasOwn(RENDER_TARGETS, to))
    throw new OptionError(`--to must be one of ${targets.join(", ")}, got ${JSON.stringify(to)}.`);
  const program = await readOneProgram(name, io);
  const code = rendered(name, () =>
    renderProgram(program, to as RenderTargetName, {
      ...(policyLength === undefined ? {} : { policyLength: wholeNumber("--policy-length", policyLength, 1) }),
      ...(gamma === undefined ? {} : { gamma: precision(gamma) }),
    }),
  );
  for (const note of program.notes) await io.say(harmless(`${name}: ${note}`));
  if (output === undefined || output === STDIN) await io.print(code);
  else
    await writeFile(resolve(io.cwd, output), code).catch((error: Error) => {
      throw new OptionError(`${output} cannot be written: ${error.message}`, { cause: error });
    });
  return 0;
}

function rendered(name: string, write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (error instanceof ProgramError) throw new OptionError(harmless(`${name}: ${error.message}`), { cause: error });
    throw error;
  }
}
