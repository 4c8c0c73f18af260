import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { findUnsafe, formatUnsafe } from "../../process/cmd-quoting.ts";
import { argumentReader, type ArgumentReader, type CommandPlace } from "../../process/resolve-command.ts";

/** Rules for values of a call's arguments on the command line and in environment variables of a program. */
export interface ArgumentRule {
  /** Throws a `FailError` of kind `invalid_params` for a value that is not safe on the command line. */
  assertSafe(name: string, text: string): void;
  /** Returns false for a value that `cmd.exe` could execute when a batch file expands its variable. */
  isSafeVariable(text: string): boolean;
}

/**
 * Returns the rule for a script's program, or `undefined` if it receives its arguments unchanged. Rules exist only on
 * Windows, for batch files, `cmd`, npm and npx.
 */
export function argumentRule(command: string, place: CommandPlace): ArgumentRule | undefined {
  const reader = argumentReader(command, place);
  return reader === undefined ? undefined : RULES[reader];
}

const BATCH: ArgumentRule = {
  assertSafe: (name, text) => {
    const part = findUnsafe(text);
    if (part !== undefined)
      throw unsafeArgument(name, `${formatUnsafe(part)}, which \`cmd.exe\` could execute or replace`);
  },
  isSafeVariable: (text) => findUnsafe(text) === undefined,
};

const NPM: ArgumentRule = {
  assertSafe: (name, text) => {
    if (/[\r\n]/.test(text)) throw unsafeArgument(name, "a line break, at which `cmd.exe` ends the arguments of npm");
  },
  isSafeVariable: () => true,
};

/** Rules by the way in which `cmd.exe` reads the arguments. */
export const RULES: Readonly<Record<ArgumentReader, ArgumentRule>> = { batch: BATCH, npm: NPM };

function unsafeArgument(name: string, problem: string): FailError {
  const message = `Argument \`${name}\` contains ${problem}. Send it without, or let the script read standard input.`;
  return new FailError(fail("invalid_params", message));
}
