import type { Readable } from "node:stream";
import { guardStdout, type GuardedStdout } from "../../process/stdout-guard.ts";
import type { ServedHub } from "../../hub/serve/serve.ts";
import { serveStdio } from "../../hub/serve/serve-stdio.ts";
import { initialize, closeMcpInstance, type InitializeOptions } from "./initialize.ts";
import type { MCP } from "./mcp.ts";

export interface CoreStdioOptions {
  /** Input stream. @default process.stdin */
  readonly input?: Readable;
  /** Output stream. @default process.stdout, which is reserved for the protocol after `start` */
  readonly output?: GuardedStdout;
}

/** Time that running calls have after a request to stop, in milliseconds (G28). */
const STOP_MS = 1000;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Serves a core on stdio: one JSON-RPC message per line, in MCP and the plain dialect. Reading, running and writing do
 * not block each other.
 */
export class StdioServer {
  readonly #options: CoreStdioOptions;
  #served: ServedHub | undefined;
  #stopping = false;

  constructor(options: CoreStdioOptions = {}) {
    this.#options = options;
  }

  /**
   * Serves until the client disconnects, `stop` is called, or the process receives a signal. The core stays open,
   * because it belongs to the caller.
   */
  async start(mcp: MCP): Promise<void> {
    if (this.#served) throw new Error("This StdioServer is already running. Create another one for another pipe.");
    const { input = process.stdin } = this.#options;
    // Stdout is reserved before modules are loaded, because their output must not be mixed with the protocol.
    const output = this.#options.output ?? guardStdout();
    const onSignal = (): void => void this.stop();
    for (const signal of SIGNALS) process.on(signal, onSignal);
    try {
      mcp.logger.info("Starting StdioServer...");
      const hub = await mcp.hub();
      this.#served = serveStdio(hub, hub.config.tree.server ?? {}, { input, output });
      if (this.#stopping) await this.stop();
      mcp.logger.info("StdioServer started and listening on stdin/stdout.");
      await this.#served.done;
      await this.#served.close(STOP_MS);
      mcp.logger.info("StdioServer stopped.");
    } finally {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      if (!this.#options.output) output.release();
    }
  }

  /** Stops reading and answers running calls within a second. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#served?.close(STOP_MS);
  }
}

/** Initialises the core with all its modules, serves it on stdio until the client disconnects, then closes it. */
export async function startStdioServer(options: InitializeOptions = {}): Promise<void> {
  const output = guardStdout();
  try {
    const [mcp] = await initialize(true, false, options);
    await new StdioServer({ output }).start(mcp);
  } finally {
    await closeMcpInstance();
    output.release();
  }
}
