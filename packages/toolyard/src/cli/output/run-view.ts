import { parseExact, stringifyExact } from "../../core/json/exact-json.ts";
import type { FailKind } from "../../core/calls/kinds.ts";
import { fail, ok, type Outcome } from "../../core/calls/outcome.ts";
import { formatBytes } from "../../core/text/bytes.ts";
import { answerOf } from "../../providers/builtin/code/code-result.ts";
import { ConfinedFiles } from "../../providers/defaults/confined-files.ts";
import { FileRefusal } from "../../providers/defaults/confined-path.ts";
import type { SandboxEnd, SandboxFile } from "../../sandbox/engine.ts";
import type { SandboxRun } from "../../sandbox/sandbox.ts";
import { EXIT, reportFail, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "./io.ts";
import { safeToShow } from "../../core/text/hidden-text.ts";

const KIND_OF_END: Readonly<Partial<Record<SandboxEnd, FailKind>>> = {
  timeout: "timeout",
  cancelled: "cancelled",
  busy: "limited",
  unavailable: "unavailable",
};

type OutputStreamName = "stdout" | "stderr";

/** Prints the code's output on the same streams as it arrives, and at the end the remaining output and the result. */
export class RunView {
  readonly #io: Io;
  readonly #printed = { stdout: 0, stderr: 0 };
  #isLineOpen = false;

  constructor(io: Io) {
    this.#io = io;
  }

  print(stream: OutputStreamName, text: string): void {
    if (text === "") return;
    this.#printed[stream] += text.length;
    this.#io[stream].write(this.#io[stream].isTTY === true ? safeToShow(text) : text);
    if (stream === "stdout") this.#isLineOpen = !text.endsWith("\n");
  }

  /** Prints the result of the run. Returns the exit code. */
  async end(run: SandboxRun): Promise<number> {
    for (const stream of ["stdout", "stderr"] as const) this.print(stream, run[stream].slice(this.#printed[stream]));
    if (run.truncated)
      await print(this.#io.stderr, "Output was left out: the code printed more than [sandbox] output allows.");
    if (run.end !== "finished") return this.#failed(run);
    if (run.resultJson === undefined) return EXIT.ok;
    const value = parseExact(run.resultJson) as unknown;
    const text = typeof value === "string" ? value : stringifyExact(value, 2);
    await print(this.#io.stdout, `${this.#isLineOpen ? "\n" : ""}${text}`);
    return EXIT.ok;
  }

  async #failed(run: SandboxRun): Promise<number> {
    const outcome = outcomeOf(run);
    if (outcome.ok) return EXIT.ok;
    const traceback = run.error?.traceback.trimEnd() ?? "";
    if (traceback !== "") await print(this.#io.stderr, traceback);
    return reportFail(outcome, false, this.#io);
  }
}

/**
 * Prints the run as one JSON object for programs: on standard output, or as an error on standard error. Returns the
 * exit code.
 */
export async function reportRunJson(run: SandboxRun, io: Io): Promise<number> {
  const outcome = outcomeOf(run);
  if (!outcome.ok) return reportFail(outcome, true, io);
  await printJson(io.stdout, outcome.result);
  return EXIT.ok;
}

function outcomeOf(run: SandboxRun): Outcome {
  const { end, error } = run;
  const result = answerOf(run);
  if (end === "finished") return ok(result);
  const kind = KIND_OF_END[end] ?? "tool_error";
  const message =
    error === undefined
      ? "The code failed."
      : kind === "tool_error"
        ? `${error.type}: ${error.message}`
        : error.message;
  return fail(kind, message, { result });
}

/**
 * Writes the files of the code into a folder. Without a folder, prints only their names. Throws a `UsageError` if
 * writing is impossible.
 */
export async function keepArtifacts(
  artifacts: readonly SandboxFile[],
  folder: string | undefined,
): Promise<readonly string[]> {
  const sorted = artifacts.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const named = sorted.map(({ path, bytes }) => `${path} (${formatBytes(bytes.byteLength)})`);
  if (folder === undefined)
    return artifacts.length === 0
      ? []
      : [`The code made ${named.join(", ")}. Name a folder with --out to keep its files.`];
  const files = new ConfinedFiles({ roots: [folder], maxBytes: Infinity });
  try {
    for (const { path, bytes } of sorted) await files.overwrite(path, bytes);
  } catch (error) {
    if (error instanceof FileRefusal) throw new UsageError(`--out: ${error.message}`, { cause: error });
    throw error;
  }
  return named.map((name) => `Wrote ${name}.`);
}
