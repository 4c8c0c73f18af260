import { writeSync } from "node:fs";
import type { Io, Terminal } from "../output/io.ts";
import { displayWidth } from "../output/table-width.ts";
import { sizeOf } from "../output/terminal.ts";

const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const CLEAR_BELOW = "\u001b[J";
/** Minimum time between two redraws: at most ten per second. */
const SOON_MS = 100;

type Write = Terminal["write"];

/**
 * Redraws lines at the bottom of a terminal. Other output goes above them: the lines are cleared first and redrawn
 * below it. The cursor is restored whenever the process ends.
 */
export class Screen {
  readonly #stderr: Terminal;
  readonly #paint: () => readonly string[];
  readonly #undo: (() => void)[] = [];
  #write: Write;
  /** Widths of the lines currently shown. */
  #drawn: readonly number[] = [];
  /** True if another writer's line is unfinished, so nothing may be drawn below it. */
  #isForeignLineOpen = false;
  #soon: NodeJS.Timeout | undefined;
  #drawnAt = -Infinity;

  constructor({ stdout, stderr }: Pick<Io, "stdout" | "stderr">, paint: () => readonly string[]) {
    this.#stderr = stderr;
    this.#paint = paint;
    this.#write = stderr.write.bind(stderr);
    this.#watch(stderr);
    if (stdout !== stderr && stdout.isTTY === true) this.#watch(stdout);
    const onResize = (): void => {
      if (this.#drawnAt >= 0) this.draw();
    };
    const onExit = (): void => {
      if (this.#drawnAt >= 0) restoreCursor();
    };
    stderr.on("resize", onResize);
    process.once("exit", onExit);
    this.#undo.push(
      () => void stderr.off("resize", onResize),
      () => void process.off("exit", onExit),
    );
  }

  draw(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (this.#isForeignLineOpen) return;
    const lines = this.#paint();
    this.#write(`${this.#drawnAt < 0 ? HIDE_CURSOR : ""}${this.#upText()}${lines.map((line) => `${line}\n`).join("")}`);
    this.#drawn = lines.map(widthOf);
    this.#drawnAt = performance.now();
  }

  drawSoon(): void {
    const waitMs = this.#drawnAt + SOON_MS - performance.now();
    if (waitMs <= 0) return this.draw();
    this.#soon ??= setTimeout(() => this.draw(), waitMs).unref();
  }

  end(): void {
    clearTimeout(this.#soon);
    if (this.#drawnAt >= 0) this.#write(`${this.#upText()}${SHOW_CURSOR}`);
    for (const undo of this.#undo) undo();
  }

  /**
   * Returns the sequence that moves to the start of the lines and clears everything below. A narrower terminal has
   * wrapped them into more rows.
   */
  #upText(): string {
    const { columns } = sizeOf(this.#stderr);
    const rows = this.#drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    this.#drawn = [];
    return `${rows > 0 ? `\u001b[${rows}A\r` : ""}${CLEAR_BELOW}`;
  }

  #watch(stream: Terminal): void {
    const write = stream.write.bind(stream) as Write;
    const own = Object.getOwnPropertyDescriptor(stream, "write");
    const watched = ((chunk: unknown, ...rest: never[]) => {
      if (this.#drawn.length > 0) this.#write(this.#upText());
      const isWritten = (write as (...all: unknown[]) => boolean)(chunk, ...rest);
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk as Uint8Array).toString("latin1");
      if (text !== "") this.#isForeignLineOpen = !text.endsWith("\n");
      if (!this.#isForeignLineOpen && this.#drawnAt >= 0) this.drawSoon();
      return isWritten;
    }) as Write;
    stream.write = watched;
    this.#undo.push(() => {
      if (own) Object.defineProperty(stream, "write", own);
      else delete (stream as { write?: Write }).write;
    });
  }
}

// oxlint-disable-next-line no-control-regex -- It is a control character that is looked for.
const PAINT = /\u001b\[[\d;]*m/g;

function widthOf(painted: string): number {
  return displayWidth(painted.replaceAll(PAINT, ""));
}

function restoreCursor(): void {
  try {
    writeSync(2, SHOW_CURSOR);
  } catch {
    // Writing failed because the terminal is closed, so the cursor need not be restored.
  }
}
