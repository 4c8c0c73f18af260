import type { Writable } from "node:stream";

export interface GuardedStdout {
  /** The real standard output, reserved for the protocol. */
  readonly sink: ProtocolSink;
  /** Restores standard output. */
  release(): void;
}

/** Receives protocol lines. */
export interface ProtocolSink {
  /**
   * Writes one line, including its line break, in one piece. Returns false if the reader is slow: wait for `onDrain`.
   */
  write(line: string): boolean;
  /** Bytes that the reader has not read yet. */
  readonly backlogBytes: number;
  onDrain(run: () => void): void;
  /** Called when the reader has closed the pipe. */
  onBroken(run: (error: Error) => void): void;
  /** Resolves when all written data has been read, or can no longer be. */
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
 * to standard error. Pipes are switched to non-blocking writes, since a client that does not read would block the whole
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
