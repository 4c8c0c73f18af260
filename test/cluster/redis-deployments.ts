// Deployments of Redis besides a single server: a cluster, and a server with a replica that sentinels watch.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../support/free-port.ts";
import { RedisServer } from "../support/redis-server.ts";

/** True if Sentinel is installed. */
export const HAS_SENTINEL = spawnSync("redis-sentinel", ["--version"]).status === 0;

const DECISION = new URL("../../docs/decisions/0015-state-behind-ports.md", import.meta.url);

/**
 * Returns the arguments that add the user `hub` with the password `secret` to a server. The user has the documented
 * commands only. `without`: a command that it lacks.
 */
export function documentedUser(prefix: string, without?: string): readonly string[] {
  const [, paragraph = ""] = /\*\*Redis commands\.\*\*(.*?)\n\n/s.exec(readFileSync(DECISION, "utf8")) ?? [];
  const commands = paragraph.match(/\b[A-Z]{3,}\b/g)!.filter((name) => name !== without && !NO_COMMANDS.has(name));
  const rights = [`~${prefix}*`, `&${prefix}*`, ...commands.map((name) => `+${name.toLowerCase()}`)];
  return ["--user", "hub", "on", ">secret", ...rights];
}

/** Words in capitals of the paragraph that lists the commands. */
const NO_COMMANDS: ReadonlySet<string> = new Set(["TTL", "KEY"]);

/** Runs a command of `redis-cli` and returns its output. */
function runCli(args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync("redis-cli", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`redis-cli ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; !holds(); attempt += 1) {
    if (attempt > 300) throw new Error("The deployment of Redis did not become ready.");
    await delay(50);
  }
}

/** Three servers of Redis Cluster without replicas. */
export class RedisCluster implements AsyncDisposable {
  readonly servers: readonly RedisServer[];
  /** Members of `[store]`. */
  readonly store: { readonly url: string; readonly mode: "cluster"; readonly nodes: readonly string[] };

  private constructor(servers: readonly RedisServer[]) {
    this.servers = servers;
    const [url, ...others] = servers.map(({ url }) => url);
    this.store = { url: url!, mode: "cluster", nodes: others.map((other) => other.slice("redis://".length)) };
  }

  /** `more`: further arguments of each server. */
  static async start(more: readonly string[] = []): Promise<RedisCluster> {
    const args = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--appendonly", "yes", ...more];
    const servers: RedisServer[] = [];
    for (let at = 0; at < 3; at += 1) {
      const bus = await freePort();
      servers.push(await RedisServer.start({ args: [...args, "--cluster-port", String(bus)] }));
    }
    const cluster = new RedisCluster(servers);
    const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
    runCli(["--cluster", "create", ...addresses, "--cluster-replicas", "0", "--cluster-yes"]);
    await until(() =>
      servers.every(({ port }) => runCli(["-p", String(port), "cluster", "info"]).includes("cluster_state:ok")),
    );
    return cluster;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.servers) await server[Symbol.asyncDispose]();
  }
}

/** A server, its replica, and one sentinel. */
export class RedisSentinel implements AsyncDisposable {
  readonly master: RedisServer;
  readonly store: { readonly url: string; readonly mode: "sentinel"; readonly master: string };
  readonly #replica: RedisServer;
  readonly #child: ChildProcess;

  private constructor(
    master: RedisServer,
    replica: RedisServer,
    { port, child }: { port: number; child: ChildProcess },
  ) {
    this.master = master;
    this.store = { url: `redis://127.0.0.1:${port}`, mode: "sentinel", master: "hubs" };
    this.#replica = replica;
    this.#child = child;
  }

  static async start(): Promise<RedisSentinel> {
    const master = await RedisServer.start();
    const replica = await RedisServer.start({ args: ["--replicaof", "127.0.0.1", String(master.port)] });
    const port = await freePort();
    const file = join(master.folder, "sentinel.conf");
    await writeFile(
      file,
      `port ${port}\nbind 127.0.0.1\nsentinel monitor hubs 127.0.0.1 ${master.port} 1\n` +
        "sentinel down-after-milliseconds hubs 500\nsentinel failover-timeout hubs 3000\n",
    );
    const child = spawn("redis-sentinel", [file], { stdio: "ignore" });
    const sentinel = new RedisSentinel(master, replica, { port, child });
    const ask = (command: string): string =>
      spawnSync("redis-cli", ["-p", String(port), "sentinel", command, "hubs"], { encoding: "utf8" }).stdout;
    await until(() => ask("replicas").includes(String(replica.port)));
    return sentinel;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
    await this.#replica[Symbol.asyncDispose]();
    await this.master[Symbol.asyncDispose]();
  }
}
