import { processActivity } from "../../core/process-activity.ts";
import { Sandbox } from "../../sandbox/sandbox.ts";
import { resolveSandbox, type SandboxConfig } from "../../sandbox/options.ts";
import type { SandboxHost, SandboxJob } from "../../sandbox/engine.ts";
import type { SandboxRun } from "../../sandbox/sandbox.ts";

/** Sections of the configuration that the sandbox reads. */
export interface SandboxReads {
  readonly sandbox?: SandboxConfig;
}

/**
 * Sandbox of the current configuration, looked up at each run. After a change of the configuration, running code
 * finishes in the previous sandbox.
 */
export class LiveSandbox {
  readonly #config: () => SandboxConfig | undefined;
  readonly #principals: () => number;
  #key: string | undefined;
  #current: CountedSandbox | undefined;
  readonly #old = new Set<CountedSandbox>();

  /** `principals` returns the number of distinct callers, among which slots are divided fairly. */
  constructor(config: () => SandboxConfig | undefined, principals: () => number) {
    this.#config = config;
    this.#principals = principals;
  }

  current(): CountedSandbox {
    const config = this.#config();
    const key = JSON.stringify(config ?? {});
    if (this.#current && key === this.#key) return this.#current;
    this.#retire();
    this.#key = key;
    const options = { ...resolveSandbox(config), principals: this.#principals() };
    return (this.#current = new CountedSandbox(new Sandbox(options)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#old, ...(this.#current ? [this.#current] : [])].map((one) => one.close()));
  }

  #retire(): void {
    const old = this.#current;
    if (!old) return;
    this.#old.add(old);
    void old
      .idle()
      .then(() => old.close())
      .finally(() => this.#old.delete(old));
  }
}

/** A sandbox and the number of its current runs. */
class CountedSandbox {
  readonly options: Sandbox["options"];
  readonly #sandbox: Sandbox;
  readonly #runs = new Set<Promise<SandboxRun>>();

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.options = sandbox.options;
  }

  async run(job: SandboxJob, host: SandboxHost, signal: AbortSignal): Promise<SandboxRun> {
    const run = this.#sandbox.run(job, host, signal);
    this.#runs.add(run);
    processActivity.sandboxRuns += 1;
    try {
      return await run;
    } finally {
      processActivity.sandboxRuns -= 1;
      this.#runs.delete(run);
    }
  }

  async idle(): Promise<void> {
    await Promise.allSettled(this.#runs);
  }

  close(): Promise<void> {
    return this.#sandbox.close();
  }
}
