import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { contentDigest } from "../../../core/json/digest.ts";
import { FailError } from "../../../core/errors.ts";
import { foldersText } from "../../../core/text/folders-text.ts";
import { fail, type Fail } from "../../../core/calls/outcome.ts";
import type { Logger } from "../../../core/ports/ports.ts";
import type { BrokenInstall, Installation } from "../../../core/sources/provider.ts";
import { within } from "../../../core/timing/wait.ts";
import type { Child } from "../../../process/child.ts";
import { findCommand } from "../../../process/resolve-command.ts";
import type { StartSupervisor } from "../../../upstream/transports/stdio-transport.ts";
import type { Installer, StartVerdict } from "../../../upstream/links/installer.ts";
import { renameFileSync } from "../../../files/rename.ts";
import { brokenFolders } from "./broken-folders.ts";
import { watchGrowth } from "./growth.ts";
import { installFailure } from "./install-advice.ts";
import {
  cacheIdentity,
  installFiles,
  installingProcess,
  readResult,
  type InstallFiles,
  type InstallResult,
} from "./install-files.ts";
import { RunningInstall } from "./install-job.ts";
import type { CommandWords, InstallPlan } from "./runner.ts";
import { DownloadingStart } from "./downloading-start.ts";

export interface CommandInstallerOptions {
  readonly plan: InstallPlan;
  /** The configured command. */
  readonly command: CommandWords;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Folder of the install records, for all hubs of this user. */
  readonly folder: string;
  /** Time limit of a download in milliseconds. */
  readonly maxMs: number;
  readonly logger: Logger;
}

/**
 * Maximum wait for a download that only looks for a newer version. After this time, the cached version is started. The
 * download continues, and the next start uses its result.
 */
const RENEW_PATIENCE_MS = 2000;
/** Time after a failed download during which callers get its failure. */
const FAILED_FOR_MS = 10_000;
const SAY_EVERY_MS = 15_000;

/** Running downloads of this process, by the key of their files. */
const RUNNING = new Map<string, RunningInstall>();

/** Downloads the packages of one command, in a separate process that outlives this one. */
export class CommandInstaller implements Installer, StartSupervisor {
  readonly maxMs: number;
  brokenInstall: BrokenInstall | undefined;
  readonly #options: CommandInstallerOptions;
  readonly #key: string;
  readonly #files: InstallFiles;
  readonly #start: DownloadingStart;
  #running: RunningInstall | undefined;
  #installs = 0;
  #failure: { readonly failure: Fail; readonly at: number } | undefined;

  constructor(options: CommandInstallerOptions) {
    const { plan, folder, maxMs, env } = options;
    this.#options = options;
    this.maxMs = maxMs;
    this.#key = keyOf(plan, options.command, env);
    this.#files = installFiles(folder, this.#key);
    this.#start = new DownloadingStart({ plan, maxMs, folder, files: this.#files });
  }

  /** The command with which the server is started now. */
  get words(): CommandWords {
    const { plan, command } = this.#options;
    // If the package is still reported as missing after a download, the configured command is used.
    return this.#installs > 1 ? command : (plan.start ?? command);
  }

  get installation(): Installation | undefined {
    const { plan } = this.#options;
    const now = this.#running ?? this.#start.seen;
    if (!now) return undefined;
    const pid = this.#running?.pid;
    return {
      package: plan.package,
      since: now.since.toISOString(),
      waitsFor: now.waitsFor,
      ...(pid !== undefined && { pid }),
    };
  }

  async before(signal: AbortSignal): Promise<void> {
    const { plan, maxMs, command, env, cwd } = this.#options;
    this.#installs = 0;
    // A missing program is reported before the download, which could not start.
    findCommand((plan.install ?? command).command, { env, ...(cwd !== undefined && { cwd }) });
    // The download is already running: another hub runs it, or a hub that has ended left it running.
    if (installingProcess(this.#files, maxMs) !== undefined) return this.#wait(signal);
    // In these cases no download precedes the start. If a package is missing, the start reports it, and the package is
    // downloaded then.
    if (!plan.install || plan.freshMs === undefined || plan.isCached?.() === false) return;
    const last = this.#lastSuccess();
    if (last === undefined && !plan.start) return this.#wait(signal);
    if (this.#isOld(last)) await this.#renew(signal);
  }

  #isOld(last: InstallResult | undefined): boolean {
    const { freshMs = Infinity } = this.#options.plan;
    return freshMs < Infinity && Date.now() - (last?.at ?? -Infinity) >= freshMs;
  }

  /** Looks for a newer version, for a limited time. Rejects only if it is aborted. */
  async #renew(signal: AbortSignal): Promise<void> {
    await within(this.#wait(signal), RENEW_PATIENCE_MS).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof FailError)) throw error;
      this.#options.logger.info("It is unknown whether a newer version exists; the downloaded version is started.", {
        error: error.message,
      });
    });
    // This start no longer waits for the newer version. The download continues.
    this.#running = undefined;
  }

  verdict(stderr: readonly string[]): StartVerdict {
    const { missing, install, broken, refused } = this.#options.plan;
    if (install && missing && stderr.some((line) => missing.test(line))) return "missing";
    if (broken && brokenFolders(stderr, broken).length > 0) return "broken";
    return refused && stderr.some((line) => refused.test(line)) ? "refused" : undefined;
  }

  async install(signal: AbortSignal): Promise<void> {
    this.#installs += 1;
    const last = this.#failure;
    if (last && performance.now() - last.at < FAILED_FOR_MS) throw new FailError(last.failure);
    if (this.#installs <= 1) await this.#wait(signal);
  }

  watch(onSign: () => void): () => void {
    return this.#start.watch(onSign);
  }

  heard(): void {
    this.#start.heard();
  }

  leaving(): () => void {
    return this.#start.leaving();
  }

  started(child: Child): void {
    this.#start.started(child);
  }

  takeOver(child: Child): boolean {
    return this.#start.takeOver(child);
  }

  explain(failure: Fail, stderr: readonly string[]): Fail {
    const { plan, command, maxMs } = this.#options;
    const folders = plan.broken ? brokenFolders(stderr, plan.broken) : [];
    if (folders.length > 0) return this.#brokenFailure(failure, folders);
    return installFailure({ ok: false, at: Date.now(), lines: stderr }, command, { what: plan.package, maxMs });
  }

  #brokenFailure(failure: Fail, folders: readonly string[]): Fail {
    const { plan } = this.#options;
    const mended = existsSync(this.#files.mended);
    this.brokenInstall = { package: plan.package, folders, mended };
    const what = `The download of \`${plan.package}\` cannot be used`;
    const message = mended
      ? `${what}, though ${foldersText(folders)} was downloaded again: the package itself is incomplete. ` +
        "Name another version of it in the configuration, and report it to its author."
      : `${what}: ${foldersText(folders)} is broken, as after an interrupted install. \`toolyard check ` +
        "--yes` removes it and downloads it again.";
    return fail("unavailable", message, { retryable: false, details: { ...failure.details, install: true } });
  }

  succeeded(): void {
    this.#failure = undefined;
    if (!this.brokenInstall && !existsSync(this.#files.mended)) return;
    this.brokenInstall = undefined;
    rmSync(this.#files.mended, { force: true });
  }

  async mend(signal: AbortSignal): Promise<void> {
    const { plan, logger, folder } = this.#options;
    const broken = this.brokenInstall;
    if (!broken || !plan.install) return;
    mkdirSync(folder, { recursive: true });
    writeFileSync(this.#files.mended, "");
    for (const one of broken.folders) {
      logger.warning("A broken download is removed.", { folder: one });
      removeFolder(one);
    }
    this.brokenInstall = undefined;
    this.#failure = undefined;
    await this.#wait(signal);
  }

  #lastSuccess(): InstallResult | undefined {
    const { plan } = this.#options;
    const result = readResult(this.#files);
    return result?.ok === true && result.cache === cacheIdentity(plan.folders[0]) ? result : undefined;
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { plan, command, maxMs, logger } = this.#options;
    const running = this.#join();
    this.#running = running;
    const saying = setInterval(() => this.#say(running), SAY_EVERY_MS);
    saying.unref();
    logger.info("Downloading before it can start.", { package: plan.package });
    try {
      const result = await running.ended(signal);
      if (!result.ok) {
        const failure = installFailure(result, plan.install ?? command, { what: plan.package, maxMs });
        this.#failure = { failure, at: performance.now() };
        throw new FailError(failure);
      }
      logger.info("Downloaded.", { package: plan.package, seconds: secondsSince(running.since) });
    } finally {
      clearInterval(saying);
      this.#running = undefined;
    }
  }

  #say({ since, waitsFor, pid }: RunningInstall): void {
    const { plan, logger } = this.#options;
    const facts = { package: plan.package, seconds: secondsSince(since), waitsFor };
    logger.info("Still downloading.", { ...facts, ...(pid !== undefined && { pid }) });
  }

  /** Returns one download for all sources of this process that need the same packages. */
  #join(): RunningInstall {
    const there = RUNNING.get(this.#key);
    if (there) return there;
    const { plan, env, cwd, folder, maxMs } = this.#options;
    const [cacheFolder] = plan.folders;
    const made = new RunningInstall({
      ...(plan.install && { install: plan.install }),
      env,
      ...(cwd !== undefined && { cwd }),
      files: this.#files,
      folder,
      maxMs,
      ...(plan.scratchFiles && { scratchFiles: plan.scratchFiles }),
      ...(cacheFolder !== undefined && { cacheFolder }),
      grew: watchGrowth(plan.folders),
    });
    RUNNING.set(this.#key, made);
    void made.over.then(() => RUNNING.delete(this.#key));
    return made;
  }
}

function secondsSince(since: Date): number {
  return Math.round((Date.now() - since.getTime()) / 1000);
}

/** Returns the key of a download. The same package in the same cache has the same key, in all hubs of this user. */
function keyOf(
  { package: name, install, folders }: InstallPlan,
  command: CommandWords,
  env: Readonly<Record<string, string>>,
): string {
  const settings = Object.entries(env).filter(([key]) => /^(?:HOME$|npm_config_|UV_|PIPX_|BUN_|DOCKER_)/i.test(key));
  return contentDigest(JSON.stringify([name, install ?? command, folders, settings.toSorted()]));
}

/** Removes a folder. It is renamed first, so that no process finds it half removed. */
function removeFolder(path: string): void {
  if (!existsSync(path)) return;
  const aside = `${path}.broken-${process.pid}`;
  renameFileSync(path, aside);
  rmSync(aside, { recursive: true, force: true });
}
