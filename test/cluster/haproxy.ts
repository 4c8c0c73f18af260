// HAProxy in front of several hubs: in turn, without affinity.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { haproxyConfig } from "./haproxy-config.mjs";

/** True if HAProxy is installed. */
export const HAS_HAPROXY = spawnSync("haproxy", ["-v"]).status === 0;

export class HaProxy implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.url = `http://127.0.0.1:${port}`;
    this.#child = child;
  }

  /** Starts the balancer. Resolves when it passes requests on. */
  static async start(folder: string, hubs: readonly number[]): Promise<HaProxy> {
    const port = await freePort();
    const file = join(folder, "haproxy.cfg");
    await writeFile(file, haproxyConfig(port, hubs));
    const proxy = new HaProxy(port, spawn("haproxy", ["-q", "-db", "-f", file], { stdio: "ignore" }));
    for (;;) {
      const answer = await fetch(`${proxy.url}/readyz`).catch(() => undefined);
      await answer?.text();
      if (answer?.status === 200) return proxy;
      if (proxy.#child.exitCode !== null) throw new Error("HAProxy has exited.");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}
