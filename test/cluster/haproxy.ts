// HAProxy in front of several hubs: in turn, without affinity.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../support/free-port.ts";

/** True if HAProxy is installed. */
export const HAS_HAPROXY = spawnSync("haproxy", ["-v"]).status === 0;

const CONFIG = (port: number, hubs: readonly number[]): string => `
defaults
  mode http
  timeout connect 2s
  timeout check 5s
  timeout client 1h
  timeout server 1h
  option redispatch 1
  retries 3
  retry-on conn-failure
frontend hubs
  bind 127.0.0.1:${port}
  default_backend hubs
backend hubs
  balance roundrobin
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
  default-server inter 500ms fall 2 rise 1
${hubs.map((hub, at) => `  server hub${at} 127.0.0.1:${hub} check`).join("\n")}
`;

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
    await writeFile(file, CONFIG(port, hubs));
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
