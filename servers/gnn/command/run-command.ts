import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { ProgramError } from "../programs/program-error.ts";
import { plotRun } from "../simulate/plot.ts";
import { toRunData, toRunText } from "../simulate/report.ts";
import { METHODS, simulate, type MethodName, type SimulateOptions } from "../simulate/simulate.ts";
import { harmless, STDIN, type CommandIo } from "./files.ts";
import { readOneProgram } from "./program-file.ts";

export interface RunOptions {
  readonly steps?: string;
  readonly seed?: string;
  readonly library?: string;
  readonly policyLength?: string;
  readonly gamma?: string;
  readonly stochastic?: boolean;
  readonly json?: boolean;
  /** A file for the plot. */
  readonly plot?: string;
}

/** Runs a model and prints what it did. Throws an `OptionError` where it cannot be run. */
export async function run(name: string, options: RunOptions, io: CommandIo): Promise<number> {
  const program = await readOneProgram(name, io);
  try {
    const simulation = await simulate(program, optionsOf(options));
    if (options.plot !== undefined && options.plot !== STDIN)
      await writePlot(resolve(io.cwd, options.plot), plotRun(simulation));
    if (options.plot === STDIN) await io.print(plotRun(simulation));
    else if (options.json) await io.print(JSON.stringify(toRunData(simulation)));
    else await io.print(harmless(toRunText(simulation)));
    return 0;
  } catch (error) {
    if (error instanceof ProgramError) throw new OptionError(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
}

function optionsOf({ steps, seed, library, policyLength, gamma, stochastic }: RunOptions): SimulateOptions {
  const method = library ?? "pymdp-1";
  if (!Object.hasOwn(METHODS, method))
    throw new OptionError(
      `--library must be one of ${Object.keys(METHODS).join(", ")}, got ${JSON.stringify(library)}.`,
    );
  return {
    method: method as MethodName,
    ...(steps === undefined ? {} : { steps: wholeNumber("--steps", steps, 1) }),
    ...(seed === undefined ? {} : { seed: wholeNumber("--seed", seed, 0) }),
    ...(policyLength === undefined ? {} : { policyLength: wholeNumber("--policy-length", policyLength, 1) }),
    ...(gamma === undefined ? {} : { gamma: precision(gamma) }),
    ...(stochastic ? { actionSelection: "stochastic" as const } : {}),
  };
}

/** Throws an `OptionError` for any other text. */
export function wholeNumber(option: string, text: string, lowest: number): number {
  const number = Number(text);
  if (/^\d{1,15}$/.test(text) && number >= lowest) return number;
  throw new OptionError(`${option} must be a whole number from ${lowest} on, got ${JSON.stringify(text)}.`);
}

/** Throws an `OptionError` for any other text. */
export function precision(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number) && number >= 0) return number;
  throw new OptionError(`--gamma must be a number from 0 on, got ${JSON.stringify(text)}.`);
}

async function writePlot(path: string, svg: string): Promise<void> {
  try {
    await writeFile(path, svg);
  } catch (error) {
    throw new OptionError(`${path} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
