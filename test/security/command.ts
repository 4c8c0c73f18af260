// Runs the command line in this process, with separate streams.
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { VERSION } from "../../packages/toolyard/src/core/version.ts";
import type { Io } from "../../packages/toolyard/src/cli/output/io.ts";
import { createProgram } from "../../packages/toolyard/src/cli/program.ts";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunWish {
  readonly isTerminal?: boolean;
  /** @default TOOLYARD_HOME, else the folder of this process */
  readonly cwd?: string;
  /** User at the terminal. @default none */
  readonly ask?: (question: string) => Promise<boolean>;
}

export async function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { isTerminal = false, cwd, ask }: RunWish = {},
): Promise<Ran> {
  const stdout = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const stderr = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const said = Promise.all([text(stdout), text(stderr)]);
  const io = {
    stdout,
    stderr,
    env,
    cwd: cwd ?? env["TOOLYARD_HOME"] ?? process.cwd(),
    color: false,
    ...(isTerminal && { width: 120 }),
    ...(ask && { ask }),
    interrupted: new AbortController().signal,
    readStdin: async () => "",
  };
  let code = -1;
  const program = await createProgram(io as unknown as Io, VERSION, {
    json: words.includes("--json"),
    finish: (result) => (code = result),
  });
  await program.parseAsync(words, { from: "user" });
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, stdout: out, stderr: err };
}
