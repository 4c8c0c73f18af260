import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { pathOf } from "../language/choose-models.ts";
import type { RenderOptions } from "../render/target.ts";
import { renderPrograms } from "../render/render-programs.ts";
import { RENDER_TARGETS, type RenderTargetName } from "../render/targets.ts";
import { harmless, STDIN, writeTo, type CommandIo } from "./files.ts";
import { readWholePrograms, refusing } from "./program-file.ts";
import { forEachFile, withOutput } from "./several-files.ts";
import { precision, wholeNumber } from "./run-command.ts";

/** Exit code if a program was written for a file with errors. */
const INVALID = 1;

export interface RenderCommandOptions {
  readonly to: string;
  readonly output?: string;
  /** Identifier, name or number of one model. */
  readonly model?: string;
  readonly policyLength?: string;
  readonly gamma?: string;
}

/**
 * Writes the models of files as programs, one file for each model. Returns 1 if a file has errors. Throws an
 * `OptionError` if the target cannot express a model; then nothing is written for that file.
 */
export async function render(names: readonly string[], options: RenderCommandOptions, io: CommandIo): Promise<number> {
  const { to, output } = options;
  const targets = Object.keys(RENDER_TARGETS);
  if (!Object.hasOwn(RENDER_TARGETS, to))
    throw new OptionError(`--to must be one of ${targets.join(", ")}, got ${JSON.stringify(to)}.`);
  const { extension: ending } = RENDER_TARGETS[to as RenderTargetName];
  return forEachFile(names, { io, output, option: "--output", ending }, (name, own) =>
    renderFile(name, withOutput(options, own), io),
  );
}

async function renderFile(name: string, options: RenderCommandOptions, io: CommandIo): Promise<number> {
  const { to, output = STDIN } = options;
  const { programs, isValid } = await readWholePrograms(name, io, options.model);
  if (output === STDIN && programs.length > 1)
    throw new OptionError(
      harmless(
        `${name} has ${programs.length} models: ${programs.map(({ label }) => label).join(", ")}. ` +
          "Choose one with --model, or write a file for each with --output.",
      ),
    );
  const settings = settingsOf(options);
  const written = await refusing(name, async () => renderPrograms(programs, to as RenderTargetName, settings));
  for (const one of written) {
    for (const note of one.notes) await io.say(harmless(`${name}: ${note}`));
    if (output === STDIN) await io.print(one.text);
    else await writeTo(resolve(io.cwd, pathOf(output, one, written.length)), one.text);
  }
  return isValid ? 0 : INVALID;
}

function settingsOf({ policyLength, gamma }: RenderCommandOptions): Partial<RenderOptions> {
  return {
    ...(policyLength === undefined ? {} : { policyLength: wholeNumber("--policy-length", policyLength, 1) }),
    ...(gamma === undefined ? {} : { gamma: precision(gamma) }),
  };
}
