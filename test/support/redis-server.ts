import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

/** True if Redis is installed. Without it, tests of the shared store are listed skips. */
export const HAS_REDIS = spawnSync("redis-server", ["--version"]).status === 0;

/** Redis server on a free port, without files that outlive it. */
export class RedisServer implements AsyncDisposable {
  readonly url: string;
  readonly #port: number;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#port = port;
    this.#folder = folder;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), "toolyard-redis-")));
    await server.resume();
    return server;
  }

  /** Starts the server on the same port, without data. Resolves when it accepts connections. */
  async resume(): Promise<void> {
    const options = ["--port", String(this.#port), "--bind", "127.0.0.1", "--save", "", "--dir", this.#folder];
    const child = spawn("redis-server", options, { stdio: ["ignore", "pipe", "ignore"] });
    this.#child = child;
    for await (const chunk of child.stdout) if (String(chunk).includes("Ready to accept connections")) break;
  }

  /** Kills the server, so that its data are lost. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
