import { stringifyExact } from "../../core/json/exact-json.ts";
import { addAbortSignal, type Writable } from "node:stream";
import { codeOf } from "../../core/errors.ts";
import { safeJson, safeToShow } from "../../core/text/hidden-text.ts";
import { sizeOf } from "./terminal.ts";

/** A stream that may be a terminal. */
export type Terminal = Writable & { readonly isTTY?: boolean };

/** Environment of a command, so that tests can replace it. */
export interface Io {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** True if output may contain colours. */
  readonly color: boolean;
  /** Columns of the terminal. Absent if standard output is not a terminal; nothing is truncated then. */
  readonly width?: number;
  /**
   * Aborted by the first Ctrl+C or SIGTERM: the command then ends everything that it started. A second signal ends the
   * process immediately.
   */
  readonly interrupted: AbortSignal;
  /** Reads the text on standard input, for arguments given as `-`. Rejects if interrupted. */
  readStdin(): Promise<string>;
  /**
   * Asks the user at the terminal. `otherwise` is the answer for Enter and for unclear input (default: true). Absent if
   * there is no user. Rejects if interrupted.
   */
  readonly ask?: (question: string, otherwise?: boolean) => Promise<boolean>;
  /** Reads one line from the user at the terminal. Absent if there is no user. Rejects if `signal` aborts. */
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

// According to https://no-color.org, an empty value counts as absent.
function wantsColor(env: Io["env"], isTerminal: boolean): boolean {
  if (env["NO_COLOR"] || env["TERM"] === "dumb") return false;
  return isTerminal || !["", "0", undefined].includes(env["FORCE_COLOR"]);
}

/**
 * Prints plain text. On a terminal, escape sequences in it are disabled; programs receive it unchanged. Resolves after
 * the stream accepted the text, so that a process can exit immediately without losing output.
 */
export function print(stream: Terminal, text: string): Promise<void> {
  return printPainted(stream, stream.isTTY === true ? safeToShow(text) : text);
}

/** Prints text that contains Toolyard's colours. The caller must have escaped its other parts. */
export function printPainted(stream: Writable, text: string): Promise<void> {
  return new Promise((done, failed) => {
    stream.write(text.endsWith("\n") ? text : `${text}\n`, (error) => {
      // A disconnected reader (`toolyard list | head`) is not an error.
      if (error && codeOf(error) !== "EPIPE") failed(error);
      else done();
    });
  });
}

/** Resolves after the stream accepted all output so far. */
export function flush(stream: Writable): Promise<void> {
  return new Promise((done) => void stream.write("", () => done()));
}

/** Prints a value as JSON. Escapes characters that a terminal would interpret; JSON parsers return the same text. */
export function printJson(stream: Writable, value: unknown): Promise<void> {
  return printPainted(stream, safeJson(stringifyExact(value, 2)));
}
