import type { Writable } from "node:stream";

export interface GuardedStdout {
  /** The real standard output, for the protocol alone. */
  readonly sink: ProtocolSink;
  /** Gives standard output back. */
  release(): void;
}

/** Receives protocol lines. */
export interface ProtocolSink {
  /** One line with its end, handed over in one piece. False: the reader is behind; wait for `onDrain`. */
  write(line: string): boolean;
  /** Bytes that the reader has not taken yet. */
  readonly backlogBytes: number;
  onDrain(run: () => void): void;
  /** Called when the reader has closed the pipe. */
  onBroken(run: (error: Error) => void): void;
  /** Resolves when everything written has been taken, or cannot be. */
  flushed(): Promise<void>;
}

export function createProtocolSink(
  stream: Writable,
  write: Writable["write"] = stream.write.bind(stream),
): ProtocolSink {
  let broken: Error | undefined;
  stream.on("error", (error: Error) => {
    broken = error;
  });
  return {
    write: (line) => broken !== undefined || stream.destroyed || write(line),
    get backlogBytes() {
      return stream.writableLength;
    },
    onDrain: (run) => void stream.on("drain", run),
    onBroken: (run) => void stream.on("error", run),
    flushed: () =>
      new Promise((resolve) => {
        if (broken || stream.destroyed) return resolve();
        const over = (): void => {
          stream.off("close", over);
          stream.off("error", over);
          resolve();
        };
        stream.once("close", over);
        stream.once("error", over);
        write("", over);
      }),
  };
}

/**
 * Reserves standard output for the protocol: other output of this process (`console.log`, `process.stdout.write`) goes
 * to standard error. Pipes are switched to non-blocking writes, since a client that does not read would stop the whole
 * process.
 */
export function guardStdout(
  stdout: NodeJS.WriteStream = process.stdout,
  stderr: Writable = process.stderr,
): GuardedStdout {
  const original = stdout.write;
  const { _handle: handle } = stdout as { _handle?: { setBlocking?: (blocking: boolean) => void } };
  if (!stdout.isTTY) handle?.setBlocking?.(false);
  const sink = createProtocolSink(stdout, original.bind(stdout));
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return {
    sink,
    release: () => {
      stdout.write = original;
    },
  };
}
