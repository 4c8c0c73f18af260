import { safeToShow } from "../../core/text/hidden-text.ts";
import { colorsOf } from "./colors.ts";
import { print, printPainted, type Io } from "./io.ts";
import type { LiveLine } from "../live/line-text.ts";
import { showLive, type Live } from "../live/live.ts";

/**
 * The input and output of a command implemented by a package such as `@toolyard/library`. Each package declares the
 * part that it uses.
 */
export interface ServiceIo {
  readonly cwd: string;
  readonly env: Io["env"];
  readonly signal: AbortSignal;
  readStdin(): Promise<string>;
  print(text: string): Promise<void>;
  say(text: string): Promise<void>;
  printBytes(bytes: Uint8Array): Promise<void>;
  /** Prints text that contains colours. The caller must have escaped its other parts. */
  paint(text: string): Promise<void>;
  safe(text: string): string;
  mark(word: string): string;
  live(read: () => readonly LiveLine[], options: { readonly json?: boolean }): Pick<Live, "end">;
}

export function serviceIo(io: Io): ServiceIo {
  return {
    cwd: io.cwd,
    env: io.env,
    signal: io.interrupted,
    readStdin: () => io.readStdin(),
    print: (text) => print(io.stdout, text),
    say: (text) => print(io.stderr, text),
    printBytes: (bytes) =>
      new Promise((done, failed) => io.stdout.write(bytes, (error) => (error ? failed(error) : done()))),
    paint: (text) => printPainted(io.stdout, text),
    safe: io.stdout.isTTY === true ? safeToShow : (text) => text,
    mark: colorsOf(io).bold,
    live: (read, { json = false }) => showLive(io, { read, json, plain: false }),
  };
}
