import { guardStdout } from "../process/stdout-guard.ts";
import type { Hub } from "./hub.ts";
import { endpointsOf, type ServerConfig } from "./serve/endpoints.ts";
import type { ServedFetch } from "./serve/fetch.ts";
import { nodeHandler, type NodeHandler } from "./serve/node.ts";
import { serveStdio } from "./serve/serve-stdio.ts";
import { serveHttp, type ServedHub, type ServedHttp } from "./serve/serve.ts";

/** Endpoints that a program opened on its hub. */
export class LibraryEndpoints {
  readonly #hub: Hub;
  readonly #served: ServedHub[] = [];
  /** Settings of `[server]` with which the HTTP endpoint was opened. */
  #servedAs: string | undefined;

  constructor(hub: Hub) {
    this.#hub = hub;
  }

  async serve(): Promise<ServedHttp> {
    return this.#opened(await serveHttp(this.#hub, this.#server));
  }

  async serveFetch(): Promise<ServedFetch> {
    const { serveFetch } = await import("./serve/fetch.ts");
    return this.#opened(await serveFetch(this.#hub, this.#server));
  }

  nodeHandler(): NodeHandler {
    const { handler, served } = nodeHandler(this.#hub, this.#server);
    this.#opened(served);
    return handler;
  }

  serveStdio(): ServedHub {
    const output = guardStdout();
    const endpoint = serveStdio(this.#hub, this.#server, { input: process.stdin, output });
    const close: ServedHub["close"] = (graceMs) => endpoint.close(graceMs).finally(() => output.release());
    const one = { done: endpoint.done, close };
    this.#served.push(one);
    return one;
  }

  /**
   * Logs that a changed `[server]` is not applied: callers already have the address, so the program decides when to
   * change it.
   */
  reloaded(): void {
    const { config, logger, features } = this.#hub;
    if (this.#servedAs !== undefined && this.#servedAs !== endpointsOf(features, config.tree))
      logger.warning(SERVER_CHANGED);
  }

  async close(): Promise<void> {
    await Promise.all(this.#served.map((one) => one.close()));
  }

  get #server(): ServerConfig {
    return this.#hub.config.tree.server ?? {};
  }

  #opened<D extends ServedHub>(endpoint: D): D {
    this.#servedAs = endpointsOf(this.#hub.features, this.#hub.config.tree);
    this.#served.push(endpoint);
    return endpoint;
  }
}

const SERVER_CHANGED =
  "[server] or [rest] has changed, tokens and rights included; the served endpoints keep the old values. " +
  "Close it, then call `serve()` again.";
