// One Python process for many scripts (test/interop/gnn/worker.py): imports are shared. A script that ends the process,
// or exceeds its time, fails alone: the next one gets a new process.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const WORKER = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "test", "interop", "gnn", "worker.py");
/** Maximum length of the kept output of a process, besides its answers. */
const KEPT_CHARS = 20_000;

export class PythonWorker {
  #binary;
  #options;
  #running;

  /** `timeoutMs` applies to each script. */
  constructor(binary, options) {
    this.#binary = binary;
    this.#options = options;
  }

  /** Returns the output of a script, one at a time. Throws with the output if its exit code is not 0. */
  async run([script, ...args]) {
    this.#running ??= this.#start();
    const { code, output, errors } = await this.#ask([script, ...args]);
    if (code === 0) return output;
    throw new Error(`${[this.#binary, script, ...args].join(" ")} ended with ${code}:\n${output}${errors}`);
  }

  async close() {
    const child = this.#running?.child;
    if (!child) return;
    child.stdin.end();
    await once(child, "close");
  }

  #start() {
    const { cwd, env } = this.#options;
    const child = spawn(this.#binary, [WORKER], { cwd, env, stdio: "pipe" });
    const running = { child, lines: createInterface({ input: child.stdout }), said: "" };
    child.stderr.on("data", (part) => (running.said = (running.said + part).slice(-KEPT_CHARS)));
    // The error is ignored, because the exit of the process reports it. The next script gets another process.
    child.stdin.on("error", () => {});
    const over = () => (this.#running = this.#running === running ? undefined : this.#running);
    child.once("close", over).once("error", over);
    return running;
  }

  /** Returns the answer of the process, or how it ended. */
  #ask(argv) {
    const running = this.#running;
    const { child, lines } = running;
    running.said = "";
    return new Promise((resolve) => {
      const late = setTimeout(() => child.kill("SIGKILL"), this.#options.timeoutMs);
      const settle = (result) => {
        clearTimeout(late);
        lines.off("line", answered);
        child.off("close", ended).off("error", failed);
        resolve(result);
      };
      const answered = (line) => settle(JSON.parse(line));
      const ended = (code, signal) => settle({ code: code ?? signal, output: "", errors: running.said });
      const failed = (error) => settle({ code: error.code, output: "", errors: error.message });
      lines.on("line", answered);
      child.once("close", ended).once("error", failed);
      child.stdin.write(`${JSON.stringify({ argv })}\n`);
    });
  }
}
