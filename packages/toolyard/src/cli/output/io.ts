import { stringifyExact } from "../../core/json/exact-json.ts";
import { addAbortSignal, type Writable } from "node:stream";
import { codeOf } from "../../core/errors.ts";
import { safeJson, safeToShow } from "../../core/text/hidden-text.ts";
import { sizeOf } from "./terminal.ts";

/** A stream that may be a terminal. */
export type Terminal = Writable & { readonly isTTY?: boolean };

/** What a command may touch of the world, so that tests can hand in their own. */
export interface Io {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Colour for people; without it text is plain. */
  readonly color: boolean;
  /**
   * Columns of the terminal; absent where standard output is none, so that nothing is cut for programs that read it.
   */
  readonly width?: number;
  /** Aborted by the first Ctrl+C or SIGTERM: the command ends what it started. A second one does not wait for that. */
  readonly interrupted: AbortSignal;
  /** Text on standard input, for arguments given as `-`. Rejects when interrupted. */
  readStdin(): Promise<string>;
  /**
   * Asks somebody at the terminal. `otherwise` is what enter means, and anything that is not clear. @default true.
   * Absent where there is nobody. Rejects when interrupted.
   */
  readonly ask?: (question: string, otherwise?: boolean) => Promise<boolean>;
  /** One line of somebody at the terminal. Absent where there is nobody. Rejects when `signal` aborts. */
  readonly line?: (question: string, signal: AbortSignal) => Promise<string>;
}

export function processIo(interrupted: AbortSignal): Io {
  const { env, stdout, stderr, stdin } = process;
  return {
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    color: wantsColor(env, stdout.isTTY === true),
    ...(stdout.isTTY === true ? { width: sizeOf(stdout).columns } : {}),
    interrupted,
    ...(stdin.isTTY === true && stderr.isTTY === true
      ? { ask: (question, otherwise = true) => askThere({ question, otherwise }, interrupted), line: lineThere }
      : {}),
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of addAbortSignal(interrupted, stdin)) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}

async function askThere(
  { question, otherwise }: { readonly question: string; readonly otherwise: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await lineThere(question, signal);
  return otherwise ? !/^\s*n/i.test(answer) : /^\s*y(es)?\s*$/i.test(answer);
}

async function lineThere(question: string, signal: AbortSignal): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(safeToShow(question), { signal });
  } finally {
    lines.close();
  }
}

// By https://no-color.org an empty value counts as absent.
function wantsColor(env: Io["env"], isTerminal: boolean): boolean {
  if (env["NO_COLOR"] || env["TERM"] === "dumb") return false;
  return isTerminal || !["", "0", undefined].includes(env["FORCE_COLOR"]);
}

/**
 * Plain text: on a terminal nothing in it moves the cursor, paints or turns the writing, whoever said it; programs get
 * it as it is. Resolves once it is handed over, so that a process that exits right after loses nothing of it.
 */
export function print(stream: Terminal, text: string): Promise<void> {
  return printPainted(stream, stream.isTTY === true ? safeToShow(text) : text);
}

/** Text with colours of our own, whose other pieces were made safe to show before. */
export function printPainted(stream: Writable, text: string): Promise<void> {
  return new Promise((done, failed) => {
    stream.write(text.endsWith("\n") ? text : `${text}\n`, (error) => {
      // A reader that went away (`toolyard list | head`) is no fault of ours.
      if (error && codeOf(error) !== "EPIPE") failed(error);
      else done();
    });
  });
}

/** Resolves once everything written so far is handed over. */
export function flush(stream: Writable): Promise<void> {
  return new Promise((done) => void stream.write("", () => done()));
}

/** What a terminal would obey or turn stands in it as an escape, which means the same to whoever parses it. */
export function printJson(stream: Writable, value: unknown): Promise<void> {
  return printPainted(stream, safeJson(stringifyExact(value, 2)));
}
