import { resolve } from "node:path";
import { OptionError } from "toolyard";
import { diffGnn, formatDifference } from "../helpers/diff.ts";
import { explainGnn } from "../helpers/explain.ts";
import { newModel, TEMPLATE_LIMITS, TEMPLATES, type TemplateName } from "../helpers/templates.ts";
import { chooseModels } from "../language/choose-models.ts";
import { harmless, readTold, STDIN, writeTo, type CommandIo } from "./files.ts";
import { refusing } from "./program-file.ts";
import { wholeNumber } from "./run-command.ts";

export interface NewOptions {
  readonly template?: string;
  readonly name?: string;
  readonly states?: string;
  readonly observations?: string;
  readonly actions?: string;
  readonly output?: string;
}

/** Creates a model from a template. Throws an `OptionError` if the template is unknown or a size is invalid. */
export async function newFile(options: NewOptions, io: CommandIo): Promise<number> {
  const { template = "pomdp", name = "My model", output = STDIN } = options;
  if (!Object.hasOwn(TEMPLATES, template))
    throw new OptionError(
      `--template must be one of ${Object.keys(TEMPLATES).join(", ")}, got ${JSON.stringify(template)}.`,
    );
  if (name.trim() === "" || name.length > TEMPLATE_LIMITS.name || /[\r\n]/.test(name))
    throw new OptionError(`--name must be one line of 1 to ${TEMPLATE_LIMITS.name} characters.`);
  const text = newModel(template as TemplateName, {
    name,
    states: sizeOf("--states", options.states),
    observations: sizeOf("--observations", options.observations),
    actions: sizeOf("--actions", options.actions),
  });
  if (output === STDIN) await io.print(text.trimEnd());
  else await writeTo(resolve(io.cwd, output), text);
  return 0;
}

function sizeOf(option: string, text: string | undefined): number {
  if (text === undefined) return 2;
  const size = wholeNumber(option, text, 1);
  if (size <= TEMPLATE_LIMITS.size) return size;
  throw new OptionError(`${option} must be at most ${TEMPLATE_LIMITS.size}, got ${JSON.stringify(text)}.`);
}

export interface DiffOptions {
  readonly json?: boolean;
}

/** Prints the differences between the models of two files. Returns 1 if there are any, like the system's `diff`. */
export async function diff(
  [before, after]: readonly [string, string],
  { json }: DiffOptions,
  io: CommandIo,
): Promise<number> {
  if (before === STDIN && after === STDIN)
    throw new OptionError("Only one of the two files can be standard input. Name a file for the other.");
  const differences = diffGnn((await readTold(before, io)).file, (await readTold(after, io)).file);
  if (json) await io.print(JSON.stringify({ same: differences.length === 0, differences }));
  else if (differences.length > 0) await io.print(harmless(differences.map(formatDifference).join("\n")));
  return differences.length === 0 ? 0 : 1;
}

export interface ExplainOptions {
  /** Identifier, name or number of one model. */
  readonly model?: string;
}

/** Prints a rule-based description of a file. Returns 1 if a part of the file could not be read. */
export async function explain(name: string, { model }: ExplainOptions, io: CommandIo): Promise<number> {
  const { file, isWhole } = await readTold(name, io);
  const models = await refusing(name, async () => chooseModels(file.models, model));
  await io.print(harmless(explainGnn({ ...file, models: models.map((one) => one.model) })));
  return isWhole ? 0 : 1;
}
