import type {
  HostReply,
  SandboxHost,
  SandboxJob,
  SandboxLanguage,
} from "../../../packages/toolyard/src/sandbox/engine.ts";
import { toFilePath } from "../../../packages/toolyard/src/sandbox/file-path.ts";
import { resolveSandbox, type SandboxEngineName } from "../../../packages/toolyard/src/sandbox/options.ts";
import { Sandbox, type SandboxRun } from "../../../packages/toolyard/src/sandbox/sandbox.ts";
import { denoProgram } from "../../support/deno.ts";
import type { Attack } from "./attack.ts";
import type { Canaries } from "./canaries.ts";

/** Tolerance after an attack's time limit, for a busy machine. */
export const MARGIN_MS = 10_000;
const NEVER = new AbortController().signal;

/** One engine under attack, with its canaries. */
export class AttackedEngine {
  readonly name: SandboxEngineName;
  readonly sandbox: Sandbox;
  readonly languages: readonly SandboxLanguage[];
  readonly #canaries: Canaries;

  private constructor(
    name: SandboxEngineName,
    sandbox: Sandbox,
    languages: readonly SandboxLanguage[],
    canaries: Canaries,
  ) {
    this.name = name;
    this.sandbox = sandbox;
    this.languages = languages;
    this.#canaries = canaries;
  }

  /** Opens the engine. Its list of languages is empty if the machine does not have it. */
  static async open(name: SandboxEngineName, canaries: Canaries): Promise<AttackedEngine> {
    const sandbox = new Sandbox(
      resolveSandbox({
        engine: name,
        deno: denoProgram(),
        memory: "64MiB",
        output: "32KiB",
        result: "64KiB",
        files: 32,
        file_bytes: "2MiB",
        tool_bytes: "1MiB",
        runs: 6,
        queue: 500,
        sessions: 16,
      }),
    );
    const languages: SandboxLanguage[] = [];
    for (const language of ["javascript", "typescript", "python"] as const) {
      try {
        const { end } = await sandbox.run(toJob(sandbox, { language, code: "1" }), NOBODY, NEVER);
        if (end === "finished") languages.push(language);
      } catch {
        // This version does not contain the engine.
      }
    }
    return new AttackedEngine(name, sandbox, languages, canaries);
  }

  /** Runs the attack, and returns the touched canaries. */
  async run(parts: JobParts): Promise<{ readonly run: SandboxRun; readonly findings: readonly string[] }> {
    const job = toJob(this.sandbox, { ...parts, code: this.#canaries.aim(parts.code) });
    const host = new CountingHost();
    const run = await this.sandbox.run(job, host, NEVER);
    const shown = JSON.stringify({
      ...run,
      artifacts: run.artifacts.map(({ path, bytes }) => [path, Buffer.from(bytes).toString("latin1")]),
      heard: host.heard,
    });
    return { run, findings: [...this.#canaries.touched(shown), ...overBounds(run, job, host)] };
  }

  close(): Promise<void> {
    return this.sandbox.close();
  }
}

type JobParts = Pick<Attack, "language" | "code" | "profile" | "limits"> & { readonly session?: string };

function toJob({ options }: Sandbox, { language, code, profile = "scripting", limits, session }: JobParts): SandboxJob {
  // These limits are far longer than an attack without its own limits takes, so that it ends by itself on a slow
  // machine.
  const bounds = { ...options.limits, wallMs: 60_000, cpuMs: 50_000, ...limits };
  return {
    language,
    code,
    inputs: { given: [1] },
    files: [],
    profile,
    limits: bounds,
    ...(session === undefined ? {} : { session }),
  };
}

/** Returns the limits that the run exceeded. */
// oxlint-disable-next-line complexity -- One line per limit.
function overBounds(
  { stdout, stderr, resultJson = "", artifacts, toolCalls, durationMs }: SandboxRun,
  { limits, profile }: SandboxJob,
  host: CountingHost,
): string[] {
  const found: string[] = [];
  if (Buffer.byteLength(stdout) + Buffer.byteLength(stderr) > limits.outputBytes)
    found.push("more output than it may have");
  if (Buffer.byteLength(resultJson) > limits.resultBytes) found.push("a larger result than it may have");
  if (
    artifacts.length > limits.files ||
    artifacts.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) > limits.fileBytes
  )
    found.push("more files than it may have");
  if (artifacts.some(({ path }) => toFilePath(path) !== path)) found.push("a path outside");
  if (toolCalls.length > limits.toolCalls || host.heard.length > limits.toolCalls)
    found.push("more tool calls than it may make");
  if (host.most > limits.concurrentToolCalls) found.push(`${host.most} concurrent calls`);
  if (profile === "restricted" && host.heard.length > 0) found.push("a tool call of restricted code");
  if (durationMs > limits.wallMs + MARGIN_MS) found.push(`${durationMs} ms, where ${limits.wallMs} are allowed`);
  return found;
}

const NOBODY: SandboxHost = {
  call: () => Promise.reject(new Error("there is no user")),
  search: () => Promise.reject(new Error("there is no user")),
};

/** A host with a few tools, which counts callers and concurrent calls. */
class CountingHost implements SandboxHost {
  readonly heard: string[] = [];
  most = 0;
  #open = 0;

  async call(path: string, argumentsJson: string, signal: AbortSignal): Promise<HostReply> {
    return this.#counted(`${path} ${argumentsJson.slice(0, 1000)}`, async () => {
      const args: unknown = JSON.parse(argumentsJson);
      if (path === "never") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      if (path === "slow") await new Promise((resolve) => setTimeout(resolve, 5));
      if (path === "fails") return { ok: false, kind: "tool_error", message: "it failed", retryable: false };
      return { ok: true, json: JSON.stringify(path === "big" ? "x".repeat(2_000_000) : { path, args }) };
    });
  }

  async search(query: string, limit: number): Promise<HostReply> {
    return this.#counted(`search ${query.slice(0, 100)} ${limit}`, async () => ({ ok: true, json: "[]" }));
  }

  async #counted(what: string, answer: () => Promise<HostReply>): Promise<HostReply> {
    this.heard.push(what);
    this.most = Math.max(this.most, (this.#open += 1));
    try {
      return await answer();
    } finally {
      this.#open -= 1;
    }
  }
}
