// The built command line as a user or a program runs it: a child process with a temporary home.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The folder of the package `toolyard`. */
export const PACKAGE = join(ROOT, "packages/toolyard");
export const MAIN = join(ROOT, "packages", "toolyard", "dist", "cli", "main.js");

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** User id to run as if the test runs as root. */
  readonly uid?: number;
}

/** A folder to work in, with the given files and a home. */
export class Desk implements AsyncDisposable {
  readonly folder: string;
  readonly #children = new Set<ChildProcess>();

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(files: Readonly<Record<string, string>> = {}): Promise<Desk> {
    const desk = new Desk(await realpath(await mkdtemp(join(tmpdir(), "toolyard-cli-"))));
    for (const [name, text] of Object.entries(files)) await desk.write(name, text);
    return desk;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async write(name: string, text: string): Promise<string> {
    const path = this.path(name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  /** Runs `toolyard …` and resolves when it has exited. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return this.runCommand([process.execPath, MAIN, ...args], options);
  }

  /** Runs any command and resolves when it has exited. */
  async runCommand(command: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const child = this.startCommand(command, options);
    child.stdin!.end(options.stdin ?? "");
    const [stdout, stderr, code] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
    return { code, stdout, stderr };
  }

  /** Starts `toolyard …`; it ends with this desk at the latest. */
  start(args: readonly string[], options: RunOptions = {}): ChildProcess {
    return this.startCommand([process.execPath, MAIN, ...args], options);
  }

  startCommand(command: readonly string[], { env = {}, cwd = this.folder, uid }: RunOptions = {}): ChildProcess {
    const [file, ...args] = command;
    const home = this.path("home");
    const own = { HOME: home, USERPROFILE: home, TOOLYARD_HOME: join(home, "toolyard") };
    const child = spawn(file!, args, {
      cwd,
      env: { PATH: process.env["PATH"] ?? "", ...own, ...env },
      stdio: ["pipe", "pipe", "pipe"],
      ...(uid === undefined ? {} : { uid }),
    });
    const kill = (): void => void child.kill("SIGKILL");
    process.once("exit", kill);
    this.#children.add(child);
    child.stdin!.on("error", () => {});
    child.once("exit", () => {
      process.off("exit", kill);
      this.#children.delete(child);
    });
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      const gone = exitOf(child);
      child.kill("SIGKILL");
      await gone;
    }
    // A child of a killed process may write a last time while it ends.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

export async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

export async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

/** Resolves with the text of a stream up to the first match. */
export function seen(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.on("data", (chunk) => {
      text += String(chunk);
      const match = pattern.exec(text);
      if (match) resolve(match);
    });
    stream.once("end", () => reject(new Error(`The stream ended without ${String(pattern)}: ${text}`)));
  });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves once the process has ended; the test's own time limit applies. */
export async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((done) => void setTimeout(done, 20));
}
