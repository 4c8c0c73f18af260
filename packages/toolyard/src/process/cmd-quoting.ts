import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";

/**
 * Characters of a batch file's argument that `cmd.exe` may execute or replace. Quotes around the argument do not help:
 * a batch file removes them with `%~1`, and a quote inside the argument ends them. `cmd.exe` has no escape that works
 * both inside and outside of quotes. `) else` matters if a batch file uses the argument inside a block.
 */
const UNSAFE = /["%!^&|<>\r\n\0]|\)[\s,;=]*else/i;

/**
 * Arguments that a batch file receives unchanged without quotes. They contain none of its delimiters (spaces, `,`, `;`,
 * `=`).
 */
const PLAIN = /^[\w\-./\\:@+~#$]+$/;

/**
 * Returns the first part of a text that is not safe as an argument of a batch file, or `undefined` if the text is safe.
 */
export function findUnsafe(text: string): string | undefined {
  return UNSAFE.exec(text)?.[0];
}

/** Formats the result of `findUnsafe` for a message. */
export function formatUnsafe(part: string): string {
  if (part === "\0") return "a NUL character";
  return /[\r\n]/.test(part) && part.length === 1 ? "a line break" : `\`${part}\``;
}

/**
 * Builds the command line for `cmd.exe /d /s /c "…"` that starts a batch file with `args`. Throws a `FailError` of kind
 * `unavailable` if an argument is not safe in a batch file.
 */
export function cmdCommandLine(file: string, args: readonly string[]): string {
  return [file.replaceAll("/", "\\"), ...args].map(quote).join(" ");
}

function quote(argument: string, index: number): string {
  // In a quoted path of a batch file, only `%` has a special meaning. A path never contains a quote.
  const unsafe = index === 0 ? argument.match(/%/)?.[0] : findUnsafe(argument);
  if (unsafe !== undefined) throw unsafeFailure(unsafe);
  if (index > 0 && PLAIN.test(argument)) return argument;
  // Programs that the batch file starts read `\"` as a quote, so backslashes before the closing quote are doubled.
  return `"${argument.replace(/(?<!\\)(\\+)$/, "$1$1")}"`;
}

function unsafeFailure(part: string): FailError {
  const message =
    `An argument of a batch file contains ${formatUnsafe(part)}, which \`cmd.exe\` could execute or replace. ` +
    "Remove it, or start the program that the batch file starts.";
  return new FailError(fail("unavailable", message, { retryable: false }));
}
