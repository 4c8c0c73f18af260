import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";

/**
 * Characters that `cmd.exe` may execute or replace in an argument of a batch file. Quotes around the argument do not
 * help: a batch file removes them with `%~1`, and a quote inside the argument ends them. `cmd.exe` has no escape that
 * holds in both places. `) else` matters in a batch file that uses an argument inside a block.
 */
const UNSAFE = /["%!^&|<>\r\n\0]|\)[\s,;=]*else/i;

/** Words that a batch file receives unchanged without quotes: none with its delimiters (blanks, `,`, `;`, `=`). */
const PLAIN = /^[\w\-./\\:@+~#$]+$/;

/** Returns the first part of a text that is not safe in a batch file's argument, or `undefined` if all of it is. */
export function findUnsafe(text: string): string | undefined {
  return UNSAFE.exec(text)?.[0];
}

/** Formats what `findUnsafe` returned for a message. */
export function formatUnsafe(part: string): string {
  if (part === "\0") return "a NUL character";
  return /[\r\n]/.test(part) && part.length === 1 ? "a line break" : `\`${part}\``;
}

/**
 * Builds the command line for `cmd.exe /d /s /c "…"` that starts a batch file with `args`. Throws a `FailError` of kind
 * `unavailable` for an argument that is not safe there.
 */
export function cmdCommandLine(file: string, args: readonly string[]): string {
  return [file.replaceAll("/", "\\"), ...args].map(quote).join(" ");
}

function quote(argument: string, index: number): string {
  // Inside quotes, only `%` has a meaning in the path of a batch file. The path never contains a quote.
  const unsafe = index === 0 ? argument.match(/%/)?.[0] : findUnsafe(argument);
  if (unsafe !== undefined) throw unsafeFailure(unsafe);
  if (index > 0 && PLAIN.test(argument)) return argument;
  // Programs that the batch file starts read `\"` as a quote.
  return `"${argument.replace(/(?<!\\)(\\+)$/, "$1$1")}"`;
}

function unsafeFailure(part: string): FailError {
  const message =
    `An argument of a batch file contains ${formatUnsafe(part)}, which \`cmd.exe\` could execute or replace. ` +
    "Remove it, or start the program that the batch file starts.";
  return new FailError(fail("unavailable", message, { retryable: false }));
}
