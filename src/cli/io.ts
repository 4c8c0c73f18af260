import type { Writable } from "node:stream";

/** What a command may touch of the world, so that tests can hand in their own. */
export interface Io {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Colour and tables for people; without it text is plain. */
  readonly color: boolean;
  /** Text on standard input, for arguments given as `-`. */
  readStdin(): Promise<string>;
}

export function processIo(): Io {
  const { env } = process;
  const color = env["NO_COLOR"] === undefined && env["TERM"] !== "dumb" && (process.stdout.isTTY === true || env["FORCE_COLOR"] !== undefined);
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env,
    cwd: process.cwd(),
    color,
    readStdin: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}

/** Resolves once the text is handed over, so that a process that exits right after loses nothing of it. */
export function print(stream: Writable, text: string): Promise<void> {
  return new Promise((done, failed) => {
    stream.write(text.endsWith("\n") ? text : `${text}\n`, (error) => {
      // A reader that went away (`toolyard list | head`) is no fault of ours.
      if (error && (error as NodeJS.ErrnoException).code !== "EPIPE") failed(error);
      else done();
    });
  });
}

export function printJson(stream: Writable, value: unknown): Promise<void> {
  return print(stream, JSON.stringify(value, null, 2));
}
