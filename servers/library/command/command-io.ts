/** What is shown of work under way, as the command line draws it. */
export interface ProgressLine {
  readonly name: string;
  readonly state: string;
  readonly note?: string;
  readonly done?: number;
  readonly total?: number;
  /** As `Date.now()` has it. */
  readonly since?: number;
}

/** What a command has of its surroundings. */
export interface CommandIo {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  print(text: string): Promise<void>;
  say(text: string): Promise<void>;
  /** Prints text in which words are marked, whose other pieces were made safe to show. */
  paint(text: string): Promise<void>;
  /** Text of others, without what would move a terminal's cursor. */
  safe(text: string): string;
  /** Marks a word, where the terminal has colours. */
  mark(word: string): string;
  /** Shows what is under way, on a terminal alone; `end` takes it away again. */
  live(read: () => readonly ProgressLine[], options: { readonly json?: boolean }): { end(): void };
}

/** 1 says that a file was not read, or that nothing was found. */
export const EXIT = { ok: 0, failed: 1 } as const;
