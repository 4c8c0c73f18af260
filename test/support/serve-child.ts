// `toolyard serve` as a user starts it: a child process with a configuration file and its log on stderr.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stringify } from "smol-toml";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import type { LogLevel } from "../../packages/toolyard/src/core/ports/ports.ts";
import type { HubConfig } from "../../packages/toolyard/src/index.ts";
import { readProcessTable } from "../../packages/toolyard/src/process/process-table.ts";
import { LogBook } from "./log-book.ts";

export const CLI = fileURLToPath(new URL("../../packages/toolyard/dist/cli/main.js", import.meta.url));
const MEMORY_PRELOAD = fileURLToPath(new URL("report-memory.mjs", import.meta.url));

export interface ServeOptions {
  /** TOML, or a value to write as TOML. */
  readonly config: string | HubConfig;
  readonly endpoint?: "http" | "stdio";
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Enables `memory()`. @default false */
  readonly reportsMemory?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Memory of a process after a garbage collection. */
export interface MemoryReport {
  readonly heapUsed: number;
  readonly rss: number;
  /** Number of sockets, timers, children and other resources. */
  readonly resources: number;
}

export class ServeChild implements AsyncDisposable {
  readonly folder: string;
  readonly log = new LogBook();
  /** Output on stderr so far. */
  stderr = "";
  readonly exited: Promise<Exit>;
  url = "";
  readonly #child: ChildProcessWithoutNullStreams;
  #onMemory: (report: MemoryReport) => void = () => {};

  private constructor(folder: string, child: ChildProcessWithoutNullStreams) {
    this.folder = folder;
    this.#child = child;
    this.exited = once(child, "close").then(([code, signal]) => ({ code, signal }) as Exit);
    child.stdin.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (this.stderr += text));
    createInterface({ input: child.stderr }).on("line", (line) => this.#line(line));
    process.once("exit", this.#kill);
  }

  /** Starts the hub without waiting; `listening` resolves with its address. */
  static async spawn({
    config,
    endpoint = "http",
    args = [],
    env = {},
    reportsMemory = false,
  }: ServeOptions): Promise<ServeChild> {
    const folder = await mkdtemp(join(tmpdir(), "toolyard-serve-"));
    const file = join(folder, "toolyard.toml");
    await writeFile(file, typeof config === "string" ? config : stringify({ logging: { format: "json" }, ...config }));
    const flags = endpoint === "stdio" ? ["--stdio"] : ["--port", "0", "--json"];
    const node = reportsMemory ? ["--expose-gc", "--import", MEMORY_PRELOAD] : [];
    const child = spawn(process.execPath, [...node, CLI, "serve", "--config", file, ...flags, ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, TOOLYARD_HOME: join(folder, "home"), NO_COLOR: "1", ...env },
      stdio: "pipe",
    });
    return new ServeChild(folder, child);
  }

  /** Starts the hub and waits until it listens. */
  static async start(options: ServeOptions): Promise<ServeChild> {
    const served = await ServeChild.spawn(options);
    if (options.endpoint === "stdio") return served;
    const [first] = (await Promise.race([
      once(createInterface({ input: served.stdout }), "line"),
      served.exited.then(() => [undefined]),
    ])) as [string | undefined];
    if (first === undefined) throw new Error(`It ended before it listened: ${served.stderr}`);
    served.url = (JSON.parse(first) as { url: string }).url;
    return served;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stdin() {
    return this.#child.stdin;
  }

  get stdout() {
    return this.#child.stdout;
  }

  get configFile(): string {
    return join(this.folder, "toolyard.toml");
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async writeConfig(config: string | HubConfig): Promise<void> {
    await writeFile(
      this.configFile,
      typeof config === "string" ? config : stringify({ logging: { format: "json" }, ...config }),
    );
  }

  async memory(): Promise<MemoryReport> {
    const report = new Promise<MemoryReport>((resolve) => (this.#onMemory = resolve));
    this.signal("SIGUSR2");
    return Promise.race([
      report,
      this.exited.then(() => Promise.reject(new Error(`The process has exited: ${this.stderr.slice(-2000)}`))),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill();
    await this.exited;
    process.off("exit", this.#kill);
    // A killed hub's child may still write while it ends.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }

  #line(line: string): void {
    let entry: JsonObject;
    try {
      entry = JSON.parse(line) as JsonObject;
    } catch {
      return;
    }
    if (entry["memoryReport"]) return this.#onMemory(entry["memoryReport"] as unknown as MemoryReport);
    const { level, message, time: _time, ...facts } = entry;
    this.log[level as LogLevel]?.(String(message), facts);
  }

  readonly #kill = (): void => void this.#child.kill("SIGKILL");
}

/** Returns all living descendants of a process. */
export function descendants(pid: number): number[] {
  const rows = readProcessTable().filter(({ isZombie }) => !isZombie);
  const found: number[] = [];
  for (let level = [pid]; level.length > 0;) {
    level = rows.filter(({ parent }) => level.includes(parent)).map((row) => row.pid);
    found.push(...level);
  }
  return found;
}

const GONE_WITHIN_MS = 20_000;

/** Resolves when none of these processes is alive; rejects with the living ones at the time limit. */
export async function allGone(pids: readonly number[]): Promise<void> {
  const until = performance.now() + GONE_WITHIN_MS;
  const living = (): number[] => {
    const rows = new Set(
      readProcessTable()
        .filter(({ isZombie }) => !isZombie)
        .map(({ pid }) => pid),
    );
    return pids.filter((pid) => rows.has(pid));
  };
  while (living().length > 0) {
    if (performance.now() > until) throw new Error(`Still there after ${GONE_WITHIN_MS} ms: ${living().join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
