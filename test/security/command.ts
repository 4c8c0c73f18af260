// The command line in this process, with streams of its own.
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { VERSION } from "../../src/core/version.ts";
import type { Io } from "../../src/cli/io.ts";
import { createProgram } from "../../src/cli/program.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { isTerminal = false } = {},
): Promise<Ran> {
  const stdout = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const stderr = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const said = Promise.all([text(stdout), text(stderr)]);
  const io = {
    stdout,
    stderr,
    env,
    cwd: env["TOOLYARD_HOME"] ?? process.cwd(),
    color: false,
    ...(isTerminal && { width: 120 }),
    interrupted: new AbortController().signal,
    readStdin: async () => "",
  };
  let code = -1;
  const program = createProgram(io as unknown as Io, VERSION, {
    json: words.includes("--json"),
    finish: (result) => (code = result),
  });
  await program.parseAsync(words, { from: "user" });
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, stdout: out, stderr: err };
}
