import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { FailError, messageOf } from "../../../core/errors.ts";
import { fail, type Fail } from "../../../core/calls/outcome.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import type { Installation, Preparation } from "../../../core/sources/provider.ts";
import { within } from "../../../core/timing/wait.ts";
import type { ScriptCode, ScriptInterpreters } from "../../../runtimes/scripts/script-host.ts";
import type { Installs } from "../../installs.ts";
import { fileNeeds, headerNeed, type InstallPlace, type Need, type ToolRequirements } from "./needs.ts";
import { PREPARE_WITHIN_MS, RunningNeed, stepKey } from "./running-need.ts";

/**
 * Dependencies that are installed without consent. `headers`: only PEP 723 headers. `auto`: also files next to tools.
 * `never`: only with `toolyard prepare`.
 */
export type Dependencies = "headers" | "auto" | "never";

export interface PreparationsOptions {
  readonly dependencies: Dependencies;
  readonly installs: () => Promise<Installs>;
  /** Folder of the environments for script headers. */
  readonly environments: string;
  /** The part of the hub's environment that installers get. */
  readonly env: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Called when the state of a tool changed. */
  readonly onChange: () => void;
}

/**
 * Maximum time in milliseconds for which a call waits for a running install. After it, the call fails and reports the
 * state of the install.
 */
const PATIENCE_MS = 30_000;
/** Maximum number of environments for headers on this machine; the least recently used are removed. */
const MAX_ENVIRONMENTS = 50;

/**
 * Installs the requirements of tools. An install starts when a hub starts its sources (`beginWith`), or on a user's
 * command (`Preparation.run`). Calls and file changes never start one, because they may come from a model.
 */
export class Preparations implements ScriptInterpreters {
  readonly #options: PreparationsOptions;
  readonly #running = new Map<string, RunningNeed>();
  /** Failures by the key of the need. */
  readonly #failures = new Map<string, { readonly tools: readonly string[]; readonly failure: Fail }>();
  readonly #used = new Set<string>();
  #begun: Promise<unknown> = Promise.resolve();

  constructor(options: PreparationsOptions) {
    this.#options = options;
  }

  /** Present during an install. */
  get installation(): Installation | undefined {
    const [first, ...others] = Array.from(this.#running.values()).flatMap(({ installation }) => installation ?? []);
    if (!first || others.length === 0) return first;
    return { ...first, waitsFor: `${first.waitsFor} (and ${others.length} more)` };
  }

  /** Resolves when all installs that `beginWith` starts are running. Never rejects. */
  get begun(): Promise<unknown> {
    return this.#begun;
  }

  /** Reasons of missing requirements, by tool name. */
  get failures(): ReadonlyMap<string, string> {
    const failed = Array.from(this.#failures.values());
    return new Map(failed.flatMap(({ tools, failure }) => tools.map((tool) => [tool, failure.message] as const)));
  }

  /** Starts, in the background, the installs that need no consent. */
  beginWith(tools: () => Promise<readonly ToolRequirements[]>): void {
    if (this.#options.dependencies === "never") return;
    this.#begun = this.#begin(tools).catch((error: unknown) => {
      this.#options.logger.error("The requirements of tools could not be determined.", { error: messageOf(error) });
    });
  }

  async #begin(find: () => Promise<readonly ToolRequirements[]>): Promise<void> {
    const { dependencies, logger } = this.#options;
    const tools = await find();
    // Packages are not built here, because building a package runs its code and no user has agreed.
    const headers = headerNeeds(tools, this.#place(false));
    const files = dependencies === "auto" ? fileNeeds(tools, this.#place(true)) : [];
    if (headers.length + files.length === 0) return;
    const installs = await this.#options.installs();
    for (const need of [...headers, ...files]) {
      if (need.problem !== undefined || isReady(need, installs)) continue;
      if (need.asksFirst && dependencies !== "auto") continue;
      logger.info("Requirements of tools are being installed.", { file: need.file, tools: need.tools });
      this.#start(need, installs);
    }
  }

  /** Returns all requirements of tools, installed or not. */
  async list(tools: readonly ToolRequirements[]): Promise<readonly Preparation[]> {
    const place = this.#place(true);
    const needs = [...headerNeeds(tools, place), ...fileNeeds(tools, place)];
    if (needs.length === 0) return [];
    const installs = await this.#options.installs();
    return needs.map((need) => this.#toPreparation(need, installs));
  }

  async pythonFor(code: ScriptCode): Promise<string | undefined> {
    const need = headerNeed(code, this.#place(false));
    if (!need) return undefined;
    if (need.isBroken) throw new FailError(fail("unavailable", need.problem!, { retryable: false }));
    const installs = await this.#options.installs();
    await this.#begun;
    if (!isReady(need, installs)) await this.#wait(need, installs);
    if (isReady(need, installs)) return this.#use(need);
    // If uv is missing or automatic installs are off, the tool runs with the packages that are already installed.
    if (need.problem !== undefined || this.#options.dependencies === "never") return undefined;
    throw new FailError(this.#failures.get(need.key)?.failure ?? unprepared(code, need));
  }

  async #wait(need: Need, installs: Installs): Promise<void> {
    const running = this.#running.get(need.key) ?? this.#elsewhere(need, installs);
    if (!running) return;
    await within(running.over, PATIENCE_MS);
    if (!running.installation) return;
    throw new FailError(
      fail(
        "unavailable",
        `The packages in the header of ${basename(need.file)} are being installed: ${running.installation.waitsFor}. ` +
          "Try again in a while; `toolyard status` shows when it is done.",
        { details: { starting: true } },
      ),
    );
  }

  /** Returns the install if another hub is running it. Never starts an install. */
  #elsewhere(need: Need, installs: Installs): RunningNeed | undefined {
    return installs.isRunning(need.key, PREPARE_WITHIN_MS) ? this.#start(need, installs) : undefined;
  }

  #start(need: Need, installs: Installs): RunningNeed {
    const there = this.#running.get(need.key);
    if (there) return there;
    this.#failures.delete(need.key);
    if (need.kind === "header") makeFolder(this.#options.environments);
    const running = new RunningNeed(need, installs);
    this.#running.set(need.key, running);
    void this.#follow(running);
    return running;
  }

  async #follow({ need, over }: RunningNeed): Promise<void> {
    const { logger, environments, onChange } = this.#options;
    const failure = await over;
    this.#running.delete(need.key);
    if (failure) {
      this.#failures.set(need.key, { tools: need.tools, failure });
      logger.warning(failure.message);
    } else {
      logger.info("Requirements of tools were installed.", { file: need.file, tools: need.tools });
      if (need.kind === "header") forgetOldest(environments);
    }
    onChange();
  }

  #toPreparation(need: Need, installs: Installs): Preparation {
    const { kind, file, target, tools, problem, asksFirst, commands } = need;
    return {
      kind,
      file,
      target,
      tools,
      commands: commands.map(({ command, args }) => [command, ...args].join(" ")),
      ...(problem !== undefined && { problem }),
      ...(asksFirst && { note: "It names package sources; check it before you agree." }),
      isReady: isReady(need, installs),
      progress: () => this.#running.get(need.key)?.installation,
      run: async (signal) => {
        // Another process may have installed the packages since the first check.
        if (isReady(need, installs)) return;
        const running = this.#start(need, installs);
        const failure = await running.ended(signal);
        if (failure) throw new FailError(failure);
      },
    };
  }

  #use({ target, mark }: Need): string {
    if (!this.#used.has(target)) {
      this.#used.add(target);
      touch(target);
    }
    return mark;
  }

  #place(mayBuild: boolean): InstallPlace {
    const { environments, env } = this.#options;
    return { environments, env, mayBuild };
  }
}

function isReady(need: Need, installs: Installs): boolean {
  if (!existsSync(need.mark) || installs.isRunning(stepKey(need), PREPARE_WITHIN_MS)) return false;
  return installs.last(stepKey(need))?.ok === true;
}

/** Returns the requirements in script headers. Tools with the same header share one environment. */
function headerNeeds(tools: readonly ToolRequirements[], place: InstallPlace): readonly Need[] {
  const needs = new Map<string, Need>();
  for (const tool of tools) {
    const need = headerNeed(tool, place);
    if (!need) continue;
    const first = needs.get(need.key);
    needs.set(need.key, first ? { ...first, tools: [...first.tools, ...need.tools] } : need);
  }
  return Array.from(needs.values());
}

function unprepared({ file }: ScriptCode, { asksFirst }: Need): Fail {
  const how = asksFirst
    ? "It names package sources, so only `toolyard prepare` installs them, after asking you."
    : "`toolyard prepare` installs them; a hub does so at its start, and never for a call.";
  return fail("unavailable", `The packages in the header of ${basename(file)} are not installed. ${how}`, {
    retryable: false,
  });
}

/** Creates a folder. If that fails, the install reports it. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch {
    // The error is ignored: the install reports it.
  }
}

function touch(folder: string): void {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // The error is ignored: on a read-only disk, nothing can be removed.
  }
}

function forgetOldest(folder: string): void {
  try {
    const places = readdirSync(folder).map((name) => join(folder, name));
    const byAge = places.map((path) => [path, statSync(path).mtimeMs] as const).toSorted(([, a], [, b]) => b - a);
    for (const [path] of byAge.slice(MAX_ENVIRONMENTS)) rmSync(path, { recursive: true, force: true });
  } catch {
    // The error is ignored: another hub is using the environment.
  }
}
