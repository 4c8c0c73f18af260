import type { Fail } from "../../../core/calls/outcome.ts";
import type { BrokenInstall, Installation } from "../../../core/sources/provider.ts";
import type { EnvironmentVariables } from "../../../core/environment-variables.ts";
import { getExtra, type ExtraName } from "../../../extras/extras.ts";
import { extraState } from "../../../extras/installed.ts";
import type { Installer } from "../../../upstream/links/installer.ts";
import { beginExtraInstall, MAX_INSTALL_MS, type RunningExtraInstall } from "./extra-install.ts";

/**
 * Installs the extras that a service needs before its process is started. The configuration that names the service is
 * the user's consent, as for a server that `npx` downloads.
 */
export class ExtraInstaller implements Installer {
  readonly brokenInstall: BrokenInstall | undefined = undefined;
  readonly maxMs = MAX_INSTALL_MS;
  readonly #names: readonly ExtraName[];
  readonly #variables: EnvironmentVariables;
  #running: { readonly name: ExtraName; readonly install: RunningExtraInstall } | undefined;

  constructor(names: readonly ExtraName[], variables: EnvironmentVariables) {
    this.#names = names;
    this.#variables = variables;
  }

  get installation(): Installation | undefined {
    if (!this.#running) return undefined;
    const { name, install } = this.#running;
    const { since, waitsFor, pid } = install;
    const running = { package: `extra ${name}`, since: since.toISOString(), waitsFor };
    return { ...running, ...(pid !== undefined && { pid }) };
  }

  async before(signal: AbortSignal): Promise<void> {
    for (const name of this.#names) {
      const { state } = extraState(getExtra(name), { variables: this.#variables });
      if (state === "absent" || state === "other") await this.#install(name, signal);
    }
  }

  async #install(name: ExtraName, signal: AbortSignal): Promise<void> {
    this.#running = { name, install: beginExtraInstall(getExtra(name), this.#variables) };
    try {
      await this.#running.install.done(signal);
    } finally {
      this.#running = undefined;
    }
  }

  /** Always undefined: `before` has installed the extras, so a failed start has another reason. */
  verdict(): undefined {}

  install(signal: AbortSignal): Promise<void> {
    return this.before(signal);
  }

  mend(signal: AbortSignal): Promise<void> {
    return this.before(signal);
  }

  explain(failure: Fail): Fail {
    return failure;
  }

  watch(): () => void {
    return () => {};
  }

  leaving(): () => void {
    return () => {};
  }

  heard(): void {}

  succeeded(): void {}
}
