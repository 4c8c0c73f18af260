import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { FailError, messageOf } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { findCommand } from "../../process/resolve-command.ts";

export interface NpmCommand {
  readonly command: string;
  /** Arguments of `command` that precede npm's own arguments. */
  readonly args: readonly string[];
}

/**
 * Finds npm: the npm that started this program (`npx`), else the one bundled with this Node, both run by this Node;
 * else the program `npm` on PATH. Throws a `FailError` of kind `unavailable` if there is none.
 */
export function findNpm(
  env: Readonly<Record<string, string>>,
  { execPath = process.execPath, exists = existsSync }: { execPath?: string; exists?: (path: string) => boolean } = {},
): NpmCommand {
  const folder = dirname(execPath);
  const scripts = [
    // Only npm's own path is accepted, because other package managers set the same variable.
    ...[env["npm_execpath"] ?? ""].filter((path) => /[\\/]npm-cli\.js$/.test(path)),
    join(folder, "node_modules/npm/bin/npm-cli.js"),
    join(folder, "../lib/node_modules/npm/bin/npm-cli.js"),
  ];
  const script = scripts.find((path) => exists(path));
  if (script !== undefined) return { command: execPath, args: [script] };
  try {
    return { command: findCommand("npm", { env }), args: [] };
  } catch (error) {
    const message = `npm, which downloads extras, is not installed: ${messageOf(error)} It comes with Node.js.`;
    throw new FailError(fail("unavailable", message, { retryable: false, cause: error }));
  }
}
