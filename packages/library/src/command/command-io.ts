/** Progress of running work, as the command line draws it. */
export interface ProgressLine {
  readonly name: string;
  readonly state: string;
  readonly note?: string;
  readonly done?: number;
  readonly total?: number;
  /** Start time in milliseconds since the epoch. */
  readonly since?: number;
}

/** The environment of a command: folder, output, language. */
export interface CommandIo {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  print(text: string): Promise<void>;
  say(text: string): Promise<void>;
  /** Prints text with highlighted words. The caller escapes all other parts. */
  paint(text: string): Promise<void>;
  /** Returns untrusted text without the characters that would move a terminal's cursor. */
  safe(text: string): string;
  /** Highlights a word if the terminal supports colours. */
  mark(word: string): string;
  /** Shows progress if the output is a terminal. `end` removes it. */
  live(read: () => readonly ProgressLine[], options: { readonly json?: boolean }): { end(): void };
}

/** Exit codes. `failed`: a file could not be read, or nothing was found. */
export const EXIT = { ok: 0, failed: 1 } as const;
