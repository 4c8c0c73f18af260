// A hub as a child process on a fixed port, which can be killed and started again.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stringify } from "smol-toml";
import type { JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { freePort } from "../support/free-port.ts";
import { CLI } from "../support/serve-child.ts";

export const TOOLS = fileURLToPath(new URL("tools", import.meta.url));

export class HubProcess {
  readonly url: string;
  readonly port: number;
  /** Output on stderr so far. */
  log = "";
  readonly #file: string;
  readonly #env: Record<string, string>;
  #child: ChildProcessWithoutNullStreams | undefined;

  constructor(port: number, file: string, env: Record<string, string>) {
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#file = file;
    this.#env = env;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the hub. Resolves when it listens. */
  async start(): Promise<void> {
    const args = ["serve", "--config", this.#file, "--port", String(this.port), "--json", "--no-watch"];
    const child = spawn(process.execPath, [CLI, ...args], { env: this.#env, stdio: "pipe" });
    this.#child = child;
    child.stderr.setEncoding("utf8").on("data", (text: string) => void (this.log += text));
    child.stdin.on("error", () => {});
    const ended = once(child, "exit").then(() => Promise.reject(new Error(`The hub ended: ${this.log.slice(-3000)}`)));
    ended.catch(() => {});
    await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Runs a command of the CLI with the configuration and the home folder of this hub. */
  async run(
    args: readonly string[],
    input = "",
    more: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly code: number; readonly output: string }> {
    const env = { ...this.#env, ...more };
    const child = spawn(process.execPath, [CLI, ...args, "--config", this.#file], { env, stdio: "pipe" });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
    child.stdin.on("error", () => {}).end(input);
    const [code] = (await once(child, "close")) as [number];
    return { code, output };
  }

  /** Ends the hub with a signal, and resolves when it has exited. */
  async stop(name: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(name);
    await exited;
  }
}

export interface ClusterOptions {
  readonly hubs: number;
  /** Members of `[store]` besides `advertise`. */
  readonly store: JsonObject;
  /** True if the hubs reach each other over HTTP. @default true */
  readonly isReachable?: boolean;
  /** Further sections of the configuration. */
  readonly config?: JsonObject;
  /** Further sections of the configuration of one hub, which replace those of `config`. */
  readonly configOf?: (at: number) => JsonObject;
  /** Further variables of the hubs. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Several hubs with the same configuration and store. */
export class Cluster implements AsyncDisposable {
  readonly hubs: HubProcess[] = [];
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const cluster = new Cluster(await mkdtemp(join(tmpdir(), "toolyard-cluster-")));
    await writeFile(join(cluster.folder, "counts"), "");
    try {
      for (let at = 0; at < options.hubs; at += 1) await cluster.#add(at, options);
      await Promise.all(cluster.hubs.map((hub) => hub.start()));
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Returns the number of executions that were recorded for each key. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const key of (await readFile(join(this.folder, "counts"), "utf8")).split("\n"))
      if (key !== "") counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.hubs.map((hub) => hub.stop()));
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20 });
  }

  async #add(at: number, options: ClusterOptions): Promise<void> {
    const { store, isReachable = true, config = {}, configOf, env: more = {} } = options;
    const port = await freePort();
    const file = join(this.folder, `hub-${at}.toml`);
    const advertise = isReachable ? { advertise: `http://127.0.0.1:${port}` } : {};
    const tree = {
      logging: { format: "json" },
      builtin: { execute_code: false },
      modules: { paths: [TOOLS] },
      ...config,
      ...configOf?.(at),
      store: { ...store, ...advertise },
    };
    await writeFile(file, stringify(tree));
    const home = join(this.folder, `home-${at}`);
    const counts = join(this.folder, "counts");
    const env = { PATH: process.env["PATH"]!, HOME: home, TOOLYARD_HOME: home, NO_COLOR: "1", COUNTS: counts, ...more };
    this.hubs.push(new HubProcess(port, file, env));
  }
}
