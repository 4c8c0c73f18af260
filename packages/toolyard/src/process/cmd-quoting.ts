import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";

/**
 * Builds the command line for `cmd.exe /d /s /c "…"` that passes `args` unchanged to a batch file. Two parsers read it:
 * `cmd.exe`, which needs `^` before its special characters, and the program's own splitting, which needs `\` before
 * quotes. npm's files in `node_modules/.bin` pass their arguments to `cmd.exe` again, so they are escaped twice.
 */
export function cmdCommandLine(file: string, args: readonly string[]): string {
  const program = file.replaceAll("/", "\\");
  const isShim = /node_modules\\\.bin\\[^\\]+\.cmd$/i.test(program);
  const escape = (argument: string) =>
    isShim ? escapeSpecial(escapeSpecial(quote(argument))) : escapeSpecial(quote(argument));
  return [escapeSpecial(program), ...args.map(escape)].join(" ");
}

function quote(argument: string): string {
  if (/[\r\n\0]/.test(argument)) {
    throw new FailError(
      fail(
        "unavailable",
        "An argument holds a line break or NUL byte, which a batch file cannot take. " +
          "Name the program itself instead of its .cmd.",
        {
          retryable: false,
        },
      ),
    );
  }
  const escaped = argument.replace(/(?<!\\)(\\*)"/g, '$1$1\\"').replace(/(?<!\\)(\\+)$/, "$1$1");
  return `"${escaped}"`;
}

function escapeSpecial(text: string): string {
  return text.replace(/[()\][%!^"`<>&|;, *?]/g, "^$&");
}
