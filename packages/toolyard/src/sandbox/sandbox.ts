import { createEngine } from "./create-engine.ts";
import type { SandboxEngine, SandboxHost, SandboxJob, SandboxLanguage, SandboxOutcome } from "./engine.ts";
import { resolveSandbox, type SandboxEngineName, type SandboxOptions } from "./options.ts";

/** Outcome of a run, with the name of the engine. */
export interface SandboxRun extends SandboxOutcome {
  readonly engine: string;
  readonly isolation: string;
}

/**
 * Runs code in the engine that is configured for its language, and in no other. The engine is created for the first
 * run.
 */
export class Sandbox {
  readonly options: SandboxOptions;
  readonly #engines = new Map<SandboxEngineName, Promise<SandboxEngine>>();

  constructor(options: SandboxOptions = resolveSandbox()) {
    this.options = options;
  }

  /** Runs a job. Never rejects because of the code or a missing engine: the outcome reports them. */
  async run(job: SandboxJob, host: SandboxHost, signal: AbortSignal): Promise<SandboxRun> {
    const engine = await this.#engineFor(job.language);
    const problem = engine.languages.includes(job.language)
      ? await engine.unavailable()
      : wrongLanguage(engine, job.language);
    const outcome = problem === undefined ? await engine.run(job, host, signal) : notThere(problem);
    return { ...outcome, engine: engine.name, isolation: engine.isolation };
  }

  async close(): Promise<void> {
    const engines = await Promise.allSettled(this.#engines.values());
    await Promise.all(engines.map((engine) => (engine.status === "fulfilled" ? engine.value.dispose() : undefined)));
  }

  #engineFor(language: SandboxLanguage): Promise<SandboxEngine> {
    const name = language === "python" ? this.options.pythonEngine : this.options.javascriptEngine;
    let engine = this.#engines.get(name);
    if (!engine) this.#engines.set(name, (engine = createEngine(name, this.options)));
    return engine;
  }
}

function wrongLanguage({ name, languages }: SandboxEngine, language: SandboxLanguage): string {
  const key = language === "python" ? "python_engine" : "javascript_engine";
  return (
    `The engine \`${name}\` runs ${languages.join(" and ")}, not ${language}. Set one for it with ` +
    `\`${key}\` in [sandbox]: \`embedded\` is always available.`
  );
}

function notThere(message: string): SandboxOutcome {
  return {
    end: "unavailable",
    stdout: "",
    stderr: "",
    error: { type: "Unavailable", message, traceback: "" },
    toolCalls: [],
    artifacts: [],
    truncated: false,
    durationMs: 0,
  };
}
