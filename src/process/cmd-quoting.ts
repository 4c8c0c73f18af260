import { FailError } from "../core/errors.ts";
import { fail } from "../core/outcome.ts";

/**
 * One line for `cmd.exe /d /s /c "…"` that hands `args` to a batch file exactly as they are. Two readers stand in between:
 * `cmd.exe`, which takes `^` before its special characters, and the program's own splitting, which takes `\` before quotes.
 * A batch file hands its arguments on through `%*`, which makes `cmd.exe` read them once more: hence escaped twice.
 */
export function cmdCommandLine(file: string, args: readonly string[]): string {
  const program = escapeSpecial(file.replaceAll("/", "\\"));
  return [program, ...args.map((argument) => escapeSpecial(escapeSpecial(quote(argument))))].join(" ");
}

function quote(argument: string): string {
  if (/[\r\n\0]/.test(argument)) {
    throw new FailError(
      fail("unavailable", "An argument holds a line break or NUL byte, which a batch file cannot take. Name the program itself instead of its .cmd.", {
        retryable: false,
      }),
    );
  }
  const escaped = argument.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1");
  return `"${escaped}"`;
}

function escapeSpecial(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
