import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** Cache of compiled code, so that no killed process compiles it again. */
const CACHE = new URL("../../../../node_modules/.cache/stores/compiled", import.meta.url);
const REGISTER = new URL("../../../toolyard/dist/runtimes/typescript/register.js", import.meta.url);
REGISTER.searchParams.set("cache", fileURLToPath(CACHE));

export interface End {
  readonly isKilled: boolean;
  readonly said: string;
}

/**
 * Processes that run a script of this folder, which may end itself with SIGKILL. Each process is used once. The given
 * number is started in advance; they wait in `told` for their instructions while another process works.
 */
export class DoomedProcesses implements AsyncDisposable {
  readonly #script: string;
  readonly #words: readonly string[];
  readonly #ahead: number;
  readonly #ready: ChildProcess[] = [];

  constructor(script: string, words: readonly string[] = [], ahead = 0) {
    this.#script = script;
    this.#words = words;
    this.#ahead = ahead;
  }

  async run(words: readonly string[]): Promise<End> {
    const child = this.#ready.shift() ?? this.#start();
    while (this.#ready.length < this.#ahead) this.#ready.push(this.#start());
    const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    // A process that has ended is reported below.
    child.send(words, () => {});
    const [[code, signal], said] = await Promise.all([ended, text(child.stdout!)]);
    if (signal === "SIGKILL" || code === 0) return { isKilled: signal === "SIGKILL", said };
    throw new Error(`${this.#script} ended with ${code ?? signal}.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const left = this.#ready.splice(0);
    for (const child of left) child.kill("SIGKILL");
    await Promise.all(left.map((child) => child.signalCode ?? once(child, "exit")));
  }

  #start(): ChildProcess {
    const path = fileURLToPath(new URL(this.#script, import.meta.url));
    return spawn(process.execPath, ["--import", REGISTER.href, path, ...this.#words], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
  }
}

/** Returns the parent's instructions. Call it once this process is ready. */
export async function told(): Promise<readonly string[]> {
  const onGone = (): void => process.exit(1);
  process.once("disconnect", onGone);
  const [words] = (await once(process, "message")) as [readonly string[]];
  process.off("disconnect", onGone);
  process.disconnect();
  return words;
}
