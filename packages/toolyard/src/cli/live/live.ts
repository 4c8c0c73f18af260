import type { Io, Terminal } from "../output/io.ts";
import { paintLine, plainText, type LiveLine } from "./line-text.ts";
import { sizeOf } from "../output/terminal.ts";
import { Screen } from "./screen.ts";

/** Time between two redraws: five per second. */
const REDRAW_MS = 200;

export interface LiveOptions {
  /** Returns the current activities; called at each redraw. */
  readonly read: () => readonly LiveLine[];
  /** True if nothing is shown, because a program reads the output. @default false */
  readonly json?: boolean;
  /** True if a line per change is printed without a terminal. @default true */
  readonly plain?: boolean;
}

/** Live output while a command works; `end` clears it. */
export interface Live {
  /** Shows the latest changes without waiting for the next redraw. */
  refresh(): void;
  end(): void;
}

const NOTHING: Live = { refresh: () => {}, end: () => {} };

/**
 * Shows activities on standard error. On a terminal: lines that are redrawn in place. Without a terminal: a line per
 * change. With `json`: nothing. Other output appears above the lines.
 */
export function showLive(io: Io, { read, json = false, plain = true }: LiveOptions): Live {
  if (json) return NOTHING;
  if (isLive(io)) return new LiveScreen(io, read);
  return plain ? new PlainLines(io.stderr, read) : NOTHING;
}

/** Returns whether lines can be redrawn in place. */
export function isLive({ stderr, env }: Pick<Io, "stderr" | "env">): boolean {
  return stderr.isTTY === true && env["TERM"] !== "dumb";
}

/** Records when each line entered its state. */
class Watch {
  readonly #since = new Map<string, { readonly state: string; readonly at: number }>();

  /** Returns how long a line has been in its state, and whether this is the first time it is seen. */
  look({ name, state, since }: LiveLine): {
    readonly elapsedMs: number;
    readonly isNew: boolean;
    readonly isFirst: boolean;
  } {
    const known = this.#since.get(name);
    const now = performance.now();
    if (known?.state === state) return { elapsedMs: now - known.at, isNew: false, isFirst: false };
    this.#since.set(name, { state, at: since === undefined ? now : now - Math.max(0, Date.now() - since) });
    return { elapsedMs: known ? now - known.at : 0, isNew: true, isFirst: known === undefined };
  }
}

/** Live output on a terminal. Activities that end before the first redraw are not shown. */
class LiveScreen implements Live {
  readonly #io: Io;
  readonly #read: () => readonly LiveLine[];
  readonly #watch = new Watch();
  readonly #screen: Screen;
  readonly #timer: NodeJS.Timeout;
  #frame = 0;

  constructor(io: Io, read: () => readonly LiveLine[]) {
    this.#io = io;
    this.#read = read;
    this.#screen = new Screen(io, () => this.#paint());
    this.#timer = setInterval(() => this.#tick(), REDRAW_MS);
    this.#timer.unref();
  }

  refresh(): void {
    if (this.#frame > 0) this.#screen.drawSoon();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#screen.end();
  }

  #tick(): void {
    this.#frame += 1;
    this.#screen.draw();
  }

  #paint(): readonly string[] {
    const { columns, rows } = sizeOf(this.#io.stderr);
    const canvas = { columns: columns - 1, color: this.#io.color, frame: this.#frame };
    const lines = fitting(this.#read(), Math.max(1, rows - 2));
    return lines.shown
      .map((line) => paintLine(line, elapsedOf(line, this.#watch), canvas))
      .concat(lines.hidden > 0 ? [paintLine({ name: "…", state: `and ${lines.hidden} more` }, 0, canvas)] : []);
  }
}

/** Returns the elapsed time of a line; none for a finished line. */
function elapsedOf(line: LiveLine, watch: Watch): number {
  const { elapsedMs } = watch.look(line);
  return (line.outcome ?? "busy") === "busy" ? elapsedMs : 0;
}

/** Returns the lines that fit, running activities first. */
function fitting(
  lines: readonly LiveLine[],
  rows: number,
): { readonly shown: readonly LiveLine[]; readonly hidden: number } {
  if (lines.length <= rows) return { shown: lines, hidden: 0 };
  const isBusy = ({ outcome = "busy" }: LiveLine): boolean => outcome === "busy";
  const shown = [...lines.filter(isBusy), ...lines.filter((line) => !isBusy(line))].slice(0, rows - 1);
  return { shown, hidden: lines.length - shown.length };
}

/** Prints a line for each change after the first read. */
class PlainLines implements Live {
  readonly #stream: Terminal;
  readonly #read: () => readonly LiveLine[];
  readonly #watch = new Watch();
  readonly #timer: NodeJS.Timeout;

  constructor(stream: Terminal, read: () => readonly LiveLine[]) {
    this.#stream = stream;
    this.#read = read;
    this.#timer = setInterval(() => this.refresh(), REDRAW_MS);
    this.#timer.unref();
    this.refresh();
  }

  refresh(): void {
    for (const line of this.#read()) {
      const { isNew, isFirst, elapsedMs } = this.#watch.look(line);
      if (isNew && !(isFirst && line.outcome === "ok")) this.#stream.write(`${plainText(line, elapsedMs)}\n`);
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.refresh();
  }
}
