import type { Readable } from "node:stream";
import { formatBytes } from "../../core/text/bytes.ts";
import { cancelledFailure } from "../../core/calls/deadline.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { spawnChild, type Child, type Exit } from "../../process/child.ts";
import { StderrTail } from "../../process/stderr-tail.ts";
import { LineDecoder } from "../../wire/lines.ts";
import { ChildExit } from "./ending.ts";
import { lineWriter } from "../calling/line-writer.ts";
import type { WriteLine } from "../calling/hub-requests.ts";

/**
 * Maximum time in milliseconds for which grandchildren may hold the pipes of an ended child before the answer is sent.
 */
export const PIPE_GRACE_MS = 250;

/** Number of pipes of a child in addition to the three standard ones. */
export const EXTRA_PIPES = 2;

export interface ScriptChildRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Functions that open files for the child (see `spawnChild`). */
  readonly files?: readonly (() => number)[];
  /** Text for the child's stdin. */
  readonly input: string;
  /** Maximum size of the child's output on all descriptors together. */
  readonly maxOutputBytes: number;
  /** Signals that each end the child: that of the call (deadline and caller), and that of the closing provider. */
  readonly signals: readonly AbortSignal[];
  /** Running children of the provider, which waits for them when it closes. */
  readonly living: Set<Child>;
}

export interface ChildOutput {
  /** Receives every line on stderr. */
  onStderrLine(line: string): void;
  /** Receives every line on descriptor 3. */
  onMessageLine(line: string): void;
  /** Receives a function that writes lines to descriptor 4. Absent: the child gets nothing there. */
  onChannel?(write: WriteLine): void;
  /** Receives stdout line by line. Absent: stdout is collected and returned whole. */
  onStdoutLine?(line: string): void;
}

export interface ChildResult {
  readonly exit: Exit;
  /** Collected stdout; empty if `onStdoutLine` received it. */
  readonly stdout: Buffer;
  readonly stderr: StderrTail;
}

/**
 * Runs one child for one call: writes its input, reads its output, and limits it. Rejects with a `FailError`:
 * `unavailable` or `limited` if it cannot be started, `too_large` above the output limit, `timeout` or `cancelled` by a
 * signal. Always ends the child's process tree.
 */
export async function runChild(run: ScriptChildRun, output: ChildOutput): Promise<ChildResult> {
  const over = run.signals.find((signal) => signal.aborted);
  if (over) throw cancelledFailure(over.reason);
  const child = await spawnChild({
    command: run.command,
    args: run.args,
    cwd: run.cwd,
    env: run.env,
    extraPipes: EXTRA_PIPES,
    files: run.files ?? [],
  });
  run.living.add(child);
  void child.gone.then(() => run.living.delete(child));
  const ending = new ChildExit(child, run.signals);
  try {
    const reading = readOutput(child, { ...output, maxBytes: run.maxOutputBytes }, ending);
    output.onChannel?.(lineWriter(child.pipes[1]!));
    child.stdin.end(run.input);
    const exit = await ending.race(child.exited);
    await ending.race(child.drained(PIPE_GRACE_MS));
    reading.flush();
    return { exit, stdout: reading.stdout(), stderr: reading.stderr };
  } finally {
    ending.release();
    for (const stream of [child.stdout, child.stderr, ...child.pipes]) stream.destroy();
  }
}

interface OutputReader {
  readonly stderr: StderrTail;
  stdout(): Buffer;
  flush(): void;
}

const MAX_LOG_LINE_BYTES = 64 * 1024;

function readOutput(
  child: Child,
  output: ChildOutput & { readonly maxBytes: number },
  ending: ChildExit,
): OutputReader {
  const { maxBytes } = output;
  const kept: Buffer[] = [];
  const stderr = new StderrTail({ onLine: (line) => output.onStderrLine(line) });
  const prints = new LineDecoder(MAX_LOG_LINE_BYTES, {
    onLine: (line) => output.onStdoutLine?.(line),
    onTooLong: (bytes) => output.onStdoutLine?.(`(a line over ${formatBytes(bytes)} was left out)`),
  });
  // The limit of the whole output is used, so that no line can exceed it.
  const messages = new LineDecoder(maxBytes, { onLine: (line) => output.onMessageLine(line) });
  let seen = 0;
  const read = (stream: Readable, take: (chunk: Buffer) => void) => {
    stream.on("data", (chunk: Buffer) => {
      seen += chunk.length;
      if (seen > maxBytes) return ending.stop(tooLarge(maxBytes), 0);
      take(chunk);
    });
  };
  read(child.stdout, output.onStdoutLine ? (chunk) => prints.push(chunk) : (chunk) => kept.push(chunk));
  read(child.stderr, (chunk) => stderr.push(chunk));
  read(child.pipes[0]!, (chunk) => messages.push(chunk));
  // The hub only writes to this pipe. Output of the child on it is counted and ignored.
  read(child.pipes[1]!, () => {});
  return {
    stderr,
    stdout: () => Buffer.concat(kept),
    flush: () => {
      prints.flush();
      messages.flush();
      stderr.flush();
    },
  };
}

export function tooLarge(maxBytes: number): FailError {
  return new FailError(
    fail(
      "too_large",
      `The tool wrote more than ${formatBytes(maxBytes)} and was ended. Ask it for less, or raise \`max_output\`.`,
      { details: { maxBytes } },
    ),
  );
}
