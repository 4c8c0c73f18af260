import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { pathOf } from "../language/choose-models.ts";
import { plotRun } from "../simulate/plot.ts";
import { toRunData, toRunText } from "../simulate/report.ts";
import { simulateModel } from "../simulate/simulate-model.ts";
import { METHODS, type MethodName, type SimulateOptions } from "../simulate/options.ts";
import type { Simulation } from "../simulate/simulation.ts";
import { harmless, STDIN, writeTo, type CommandIo } from "./files.ts";
import { readWholePrograms, refusing } from "./program-file.ts";
import { forEachFile } from "./several-files.ts";

export interface RunCommandOptions {
  readonly steps?: string;
  readonly seed?: string;
  readonly library?: string;
  readonly policyLength?: string;
  readonly gamma?: string;
  readonly stochastic?: boolean;
  /** Identifier, name or number of one model. */
  readonly model?: string;
  readonly json?: boolean;
  /** Output file of the plot; for several models, one file each. */
  readonly plot?: string;
}

interface RunFileOptions extends RunCommandOptions {
  /** True if several files are run. The data of each run then contains the file name. */
  readonly isSeveral: boolean;
}

/** Exit code if a model of a file with errors was run. */
const INVALID = 1;

/**
 * Runs the models of files one after another and prints each run; as JSON, a line for each. Returns 1 if a file has
 * errors. Throws an `OptionError` if the only file cannot be run.
 */
export async function run(names: readonly string[], options: RunCommandOptions, io: CommandIo): Promise<number> {
  const { plot: output, ...rest } = options;
  let isFirst = true;
  return forEachFile(
    names,
    { io, output, option: "--plot", ending: ".svg", isPrinted: true },
    async (name, plot, isSeveral) => {
      if (!isFirst && !options.json) await io.print("");
      isFirst = false;
      if (isSeveral && !options.json && output !== STDIN) await io.print(harmless(`${name}:`));
      const own = plot === undefined ? rest : { ...rest, plot };
      return runFile(name, { ...own, isSeveral }, io);
    },
  );
}

async function runFile(name: string, options: RunFileOptions, io: CommandIo): Promise<number> {
  const { programs, isValid } = await readWholePrograms(name, io, options.model);
  const settings = optionsOf(options);
  for (const [index, one] of programs.entries()) {
    const simulation = await refusing(name, () => simulateModel(one, programs.length, settings));
    const { plot } = options;
    if (plot !== undefined && plot !== STDIN)
      await writeTo(resolve(io.cwd, pathOf(plot, one, programs.length)), plotRun(simulation));
    const gap = index > 0 && !options.json && plot !== STDIN ? "\n" : "";
    await io.print(gap + shownRun(simulation, options, name));
  }
  return isValid ? 0 : INVALID;
}

function shownRun(simulation: Simulation, { plot, json, isSeveral }: RunFileOptions, name: string): string {
  if (plot === STDIN) return plotRun(simulation);
  if (!json) return harmless(toRunText(simulation));
  return JSON.stringify({ ...(isSeveral ? { file_path: name } : {}), ...toRunData(simulation) });
}

function optionsOf({ steps, seed, library, policyLength, gamma, stochastic }: RunCommandOptions): SimulateOptions {
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

/** Parses a whole number. Throws an `OptionError` for any other text. */
export function wholeNumber(option: string, text: string, lowest: number): number {
  const number = Number(text);
  if (/^\d{1,15}$/.test(text) && number >= lowest) return number;
  throw new OptionError(`${option} must be a whole number of at least ${lowest}, got ${JSON.stringify(text)}.`);
}

/** Parses a precision. Throws an `OptionError` for any other text. */
export function precision(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number) && number >= 0) return number;
  throw new OptionError(`--gamma must be a number of at least 0, got ${JSON.stringify(text)}.`);
}
