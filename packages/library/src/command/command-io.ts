/** Progress of running work, as the command line draws it. */
export interface ProgressLine {
  readonly name: string;
  readonly state: string;
  readonly note?: string;
  readonly done?: number;
  readonly total?: number;
  /** As `Date.now()` has it. */
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
  /** Text of others, without what would move a terminal's cursor. */
  safe(text: string): string;
  /** Marks a word, where the terminal has colours. */
  mark(word: string): string;
  /** Shows progress, on a terminal only. `end` removes it. */
  live(read: () => readonly ProgressLine[], options: { readonly json?: boolean }): { end(): void };
}

/** 1: a file was not read, or nothing was found. */
export const EXIT = { ok: 0, failed: 1 } as const;
