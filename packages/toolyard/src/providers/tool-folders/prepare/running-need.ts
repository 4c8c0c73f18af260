import { statfsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fail, type Fail } from "../../../core/calls/outcome.ts";
import type { Installation } from "../../../core/sources/provider.ts";
import { orAborted } from "../../../core/timing/wait.ts";
import { hidePaths } from "../../../runtimes/scripts/hide-paths.ts";
import type { InstallEnd, Installs, RunningWish } from "../../installs.ts";
import type { Need } from "./needs.ts";
import { firstChars } from "../../../core/text/truncate.ts";

/** Time limit of an install, the same as for a server's download. */
export const PREPARE_WITHIN_MS = 10 * 60 * 1000;
const HOLD_MS = 60_000;
const MAX_SAID_CHARS = 400;
const NEVER = new AbortController().signal;

/** A running install: the commands of one need, in sequence. */
export class RunningNeed {
  readonly need: Need;
  /** Resolves with the failure, or with undefined after success. Never rejects, and does not keep a process alive. */
  readonly over: Promise<Fail | undefined>;
  readonly #installs: Installs;
  readonly #since = new Date();
  #current: RunningWish | undefined;
  #isOver = false;

  constructor(need: Need, installs: Installs) {
    this.need = need;
    this.#installs = installs;
    this.over = this.#run();
  }

  get installation(): Installation | undefined {
    if (this.#isOver) return undefined;
    const { waitsFor = "other downloads", pid } = this.#current ?? {};
    const what = `${this.need.kind} of ${this.need.tools.join(", ")}`;
    return { package: what, since: this.#since.toISOString(), waitsFor, ...(pid !== undefined && { pid }) };
  }

  /**
   * Waits for the end like `over`, but keeps the process alive. Rejects if the signal aborts; the install continues.
   */
  async ended(signal: AbortSignal): Promise<Fail | undefined> {
    const hold = setInterval(() => {}, HOLD_MS);
    try {
      return await orAborted(this.over, signal);
    } finally {
      clearInterval(hold);
    }
  }

  async #run(): Promise<Fail | undefined> {
    try {
      return await this.#runAll();
    } finally {
      this.#isOver = true;
    }
  }

  async #runAll(): Promise<Fail | undefined> {
    const { need } = this;
    for (const [index, command] of need.commands.entries()) {
      const wish = { key: stepKey(need, index), command, maxMs: PREPARE_WITHIN_MS, folders: [need.target] };
      this.#current = this.#installs.begin(wish);
      await this.#current.over;
      const end = await this.#current.ended(NEVER);
      if (!end.ok) return prepareFailure(need, end);
    }
    return undefined;
  }
}

/** Returns the key of one command. The key of the last command stands for all commands of the need. */
export function stepKey({ key, commands }: Need, index = commands.length - 1): string {
  return index === commands.length - 1 ? key : `${key}-${index}`;
}

const NO_ROOM = "Make room on the disk, then run `toolyard prepare`.";

/** Patterns in messages of installers, with advice for each. */
const ADVICE: readonly (readonly [says: RegExp, advice: string])[] = [
  [
    /building source distributions is disabled|no-build|no usable wheels/i,
    "`toolyard prepare` builds packages without a wheel, which runs their code.",
  ],
  [
    /not found in the (?:package )?registry|No solution found|No matching distribution|E404|ETARGET/i,
    "Correct the names and versions there, then run `toolyard prepare`.",
  ],
  [/ENOSPC|No space left/i, NO_ROOM],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|timed? ?out|dns error|error sending request|onnection refused|name resolution|network/i,
    "Check the network, the proxy (`HTTPS_PROXY`) and the index, then run `toolyard prepare`.",
  ],
];

/** Returns the failure for packages that could not be installed. */
function prepareFailure({ file, kind, target }: Need, { reason = "", lines }: InstallEnd): Fail {
  // The text must contain no paths of this machine and no credentials of an index, because callers read it too.
  const what = `The packages in ${kind === "header" ? "the header of " : ""}${basename(file)}`;
  const folders = [dirname(file), target, dirname(target)];
  const said = lastWords(lines.map((line) => hidePaths(line, folders).replace(LOGIN_IN_URL, "$1***@")));
  const [, told = "`toolyard prepare` shows the whole output."] =
    ADVICE.find(([says]) => says.test(lines.join("\n"))) ?? [];
  const advice = isFull(dirname(target)) ? NO_ROOM : told;
  return fail(
    "unavailable",
    `${what} could not be installed${howOf(reason)}.${said === "" ? "" : ` Its output: ${said}.`} ${advice}`,
    { retryable: false, details: { install: true } },
  );
}

/**
 * Returns whether the disk is full. This is checked because Python's own tools do not report it if their child
 * processes fail.
 */
function isFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

const MIN_FREE_BYTES = 1024 * 1024;

const LOGIN_IN_URL = /([a-z][a-z+.-]{0,20}:\/\/)[^\s/@]{1,500}@/gi;

function howOf(reason: string): string {
  if (reason === "timeout") return ` within ${PREPARE_WITHIN_MS / 60_000} minutes`;
  if (reason === "ended") return ": it was ended";
  return reason.startsWith("exit ") ? ` (${reason.replace("exit ", "exit code ")})` : "";
}

/**
 * Returns the text from the last line that starts an error to the end. If no line starts an error, returns the last
 * line.
 */
function lastWords(lines: readonly string[]): string {
  const begins = lines.findLastIndex((line) => /^(?:×|error\b|npm (?:ERR!|error)|ERROR\b)/i.test(line));
  const words = (begins === -1 ? lines.slice(-1) : lines.slice(begins)).filter((line) => !/complete log/.test(line));
  const said = words.map((line) => line.replace(/^[×╰─▶│\s]+/u, "")).join(" ");
  return firstChars(said, MAX_SAID_CHARS).replace(/(?<![.\s])[.\s]+$/, "");
}
