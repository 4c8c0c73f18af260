import type { SandboxEngine, SandboxHost, SandboxJob, SandboxLanguage, SandboxOutcome } from "./engine.ts";
import { resolveSandbox, type SandboxEngineName, type SandboxOptions } from "./options.ts";

/** A run, and what it was run in. */
export interface SandboxRun extends SandboxOutcome {
  readonly engine: string;
  readonly isolation: string;
}

/** How each engine is made; nothing of it is loaded before. */
const ENGINES: Readonly<Partial<Record<SandboxEngineName, (options: SandboxOptions) => Promise<SandboxEngine>>>> = {
  embedded: async (options) => (await import("./embedded-engine.ts")).createEmbeddedEngine(options),
};

/** Runs code in the configured engine, which is made with the first run. */
export class Sandbox {
  readonly options: SandboxOptions;
  readonly #engines = new Map<SandboxEngineName, Promise<SandboxEngine>>();

  constructor(options: SandboxOptions = resolveSandbox()) {
    this.options = options;
  }

  /** Never rejects for anything that the code does, nor for an engine that is not there: the outcome says so. */
  async run(job: SandboxJob, host: SandboxHost, signal: AbortSignal): Promise<SandboxRun> {
    const engine = await this.#engineFor(job.language);
    const problem = engine.languages.includes(job.language)
      ? await engine.unavailable()
      : `The engine \`${engine.name}\` runs ${engine.languages.join(", ")}, not ${job.language}. Choose another one for it in [sandbox].`;
    const outcome = problem === undefined ? await engine.run(job, host, signal) : notThere(problem);
    return { ...outcome, engine: engine.name, isolation: engine.isolation };
  }

  async close(): Promise<void> {
    const engines = await Promise.allSettled(this.#engines.values());
    await Promise.all(engines.map((engine) => (engine.status === "fulfilled" ? engine.value.dispose() : undefined)));
  }

  #engineFor(_language: SandboxLanguage): Promise<SandboxEngine> {
    const name = this.options.engine;
    let engine = this.#engines.get(name);
    if (!engine) this.#engines.set(name, (engine = ENGINES[name]!(this.options)));
    return engine;
  }
}

function notThere(message: string): SandboxOutcome {
  return { end: "unavailable", stdout: "", stderr: "", error: { type: "Unavailable", message, traceback: "" }, toolCalls: [], artifacts: [], truncated: false, durationMs: 0 };
}
