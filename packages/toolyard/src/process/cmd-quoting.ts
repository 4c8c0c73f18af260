import { FailError } from "../core/errors.ts";
import { fail } from "../core/calls/outcome.ts";

/**
 * One line for `cmd.exe /d /s /c "…"` that hands `args` to a batch file as they are. Two readers stand in between:
 * `cmd.exe`, which takes `^` before its special characters, and the program's own splitting, which takes `\` before
 * quotes. The files that npm puts into `node_modules/.bin` hand their arguments to `cmd.exe` once more: escaped twice
 * there.
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
