import type { Io, Terminal } from "../output/io.ts";
import { paintLine, plainText, type LiveLine } from "./line-text.ts";
import { sizeOf } from "../output/terminal.ts";
import { Screen } from "./screen.ts";

/** Between two redraws: five a second. */
const REDRAW_MS = 200;

export interface LiveOptions {
  /** What is under way, asked at each redraw. */
  readonly read: () => readonly LiveLine[];
  /** Nothing is shown: a program reads. @default false */
  readonly json?: boolean;
  /** Where it is no terminal, each change is a line. @default true */
  readonly plain?: boolean;
}

/** What is shown while a command works; `end` takes it away again. */
export interface Live {
  /** Shows what has changed without waiting for the next redraw. */
  refresh(): void;
  end(): void;
}

const NOTHING: Live = { refresh: () => {}, end: () => {} };

/**
 * Shows on standard error what is under way: on a terminal a line each that is drawn anew in place, elsewhere a line
 * for each change, with `json` nothing. Whatever else is written meanwhile stands above the lines.
 */
export function showLive(io: Io, { read, json = false, plain = true }: LiveOptions): Live {
  if (json) return NOTHING;
  if (isLive(io)) return new LiveScreen(io, read);
  return plain ? new PlainLines(io.stderr, read) : NOTHING;
}

/** Whether lines can be drawn in place. */
export function isLive({ stderr, env }: Pick<Io, "stderr" | "env">): boolean {
  return stderr.isTTY === true && env["TERM"] !== "dumb";
}

/** When each line came into the state that it is in. */
class Watch {
  readonly #since = new Map<string, { readonly state: string; readonly at: number }>();

  /** How long a line is in its state, and whether this is the first look at it. */
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

/** What is over before the first redraw was never seen. */
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

/** What is over has no clock. */
function elapsedOf(line: LiveLine, watch: Watch): number {
  const { elapsedMs } = watch.look(line);
  return (line.outcome ?? "busy") === "busy" ? elapsedMs : 0;
}

/** Where there is no room for all, those that are under way are shown first. */
function fitting(
  lines: readonly LiveLine[],
  rows: number,
): { readonly shown: readonly LiveLine[]; readonly hidden: number } {
  if (lines.length <= rows) return { shown: lines, hidden: 0 };
  const isBusy = ({ outcome = "busy" }: LiveLine): boolean => outcome === "busy";
  const shown = [...lines.filter(isBusy), ...lines.filter((line) => !isBusy(line))].slice(0, rows - 1);
  return { shown, hidden: lines.length - shown.length };
}

/** A line for each change after the first look. */
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
