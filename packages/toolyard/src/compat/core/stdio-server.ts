import type { Readable } from "node:stream";
import { guardStdout, type GuardedStdout } from "../../process/stdout-guard.ts";
import type { ServedHub } from "../../hub/serve/serve.ts";
import { serveStdio } from "../../hub/serve/serve-stdio.ts";
import { initialize, closeMcpInstance, type InitializeOptions } from "./initialize.ts";
import type { MCP } from "./mcp.ts";

export interface CoreStdioOptions {
  /** @default process.stdin */
  readonly input?: Readable;
  /** @default process.stdout, from `start` on for the protocol alone */
  readonly output?: GuardedStdout;
}

/** How long calls in flight may take once the server is told to stop (G28). */
const STOP_MS = 1000;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * A core on standard input and output: one JSON-RPC message a line, MCP and the plain dialect alike. Reading, running
 * and writing do not wait for one another.
 */
export class StdioServer {
  readonly #options: CoreStdioOptions;
  #served: ServedHub | undefined;
  #stopping = false;

  constructor(options: CoreStdioOptions = {}) {
    this.#options = options;
  }

  /**
   * Serves until the client is gone, `stop` is called, or the process is told to end. The core stays open: it is the
   * caller's.
   */
  async start(mcp: MCP): Promise<void> {
    if (this.#served) throw new Error("This StdioServer is running already. Make another one for another pipe.");
    const { input = process.stdin } = this.#options;
    // First of all: what modules print while they load is no protocol.
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

  /** Reads no more, answers what is running within a second, and resolves when it is over. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#served?.close(STOP_MS);
  }
}

/**
 * Initialises the core, all its modules with it, and serves it on standard input and output until that is over. Then
 * the core ends, too.
 */
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
