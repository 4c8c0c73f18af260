import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

/** True if Redis is installed. Without it, tests of the shared store are listed skips. */
export const HAS_REDIS = spawnSync("redis-server", ["--version"]).status === 0;

export interface RedisServerOptions {
  /** Program to start. @default "redis-server" */
  readonly program?: string;
  /** Further arguments. `--port` replaces that of the connections without TLS. */
  readonly args?: readonly string[];
}

/** Redis server on a free port, without files that outlive it. */
export class RedisServer implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly #options: RedisServerOptions;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string, options: RedisServerOptions) {
    this.url = `redis://127.0.0.1:${port}`;
    this.port = port;
    this.folder = folder;
    this.#options = options;
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), "toolyard-redis-")), options);
    await server.resume();
    return server;
  }

  /** Starts the server on the same port, without data unless it stores them. Resolves when it accepts connections. */
  async resume(): Promise<void> {
    const { program = "redis-server", args = [] } = this.#options;
    const own = ["--port", String(this.port), "--bind", "127.0.0.1", "--save", "", "--dir", this.folder];
    const child = spawn(program, [...own, ...args], { stdio: ["ignore", "pipe", "ignore"] });
    this.#child = child;
    let output = "";
    for await (const chunk of child.stdout) {
      output += String(chunk);
      if (output.includes("Ready to accept connections")) return;
    }
    throw new Error(`${program} ended: ${output}`);
  }

  /** Ends the server with a signal. Its data are lost unless it stores them. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
