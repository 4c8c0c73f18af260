import { OptionError } from "../../core/errors.ts";
import type { ServerConfig } from "../../hub/serve/endpoints.ts";
import { serveHttp, type ServedHttp } from "../../hub/serve/serve.ts";
import { initialize, type InitializeOptions } from "./initialize.ts";
import type { MCP } from "./mcp.ts";

/** Time that running calls have after a request to stop, in milliseconds (G35). */
const STOP_MS = 1000;

/**
 * Serves a core on HTTP: the plain dialect at `/` and `/jsonrpc`, MCP at these paths and at `/mcp`. Other options of
 * `[server]` in the core's settings apply as well. An address other than loopback requires a token.
 */
export class MCPHTTPServer {
  readonly mcp: MCP;
  readonly host: string;
  readonly #wantedPort: number;
  #starting: Promise<ServedHttp> | undefined;
  #served: ServedHttp | undefined;

  /** @param port Port to listen on; 0 selects a free port. */
  constructor(mcp: MCP, host = "127.0.0.1", port = 8080) {
    this.mcp = mcp;
    this.host = host;
    this.#wantedPort = port;
  }

  /** Actual port, after the server started to listen. */
  get port(): number {
    return this.#served?.address.port ?? this.#wantedPort;
  }

  /** URL `http://host:port`, after the server started to listen. */
  get url(): string | undefined {
    return this.#served?.address.url;
  }

  /** Serves in the background. Resolves when it listens. Rejects with an `OptionError` on failure. */
  async start(): Promise<void> {
    if (this.#starting)
      throw new OptionError(
        `This server is already started at port ${this.port}. Stop it first, or create another one.`,
      );
    this.mcp.logger.info(`Starting HTTP MCP server on ${this.host}:${this.#wantedPort}...`);
    this.#starting = this.#serve();
    try {
      this.#served = await this.#starting;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
    this.mcp.logger.info("HTTP MCP server started. Listening for requests.");
  }

  /** Stops accepting requests, lets running requests finish within a second, and closes the socket. */
  async stop(): Promise<void> {
    const starting = this.#starting;
    if (!starting) return;
    this.mcp.logger.info("Stopping HTTP MCP server...");
    const served = await starting.catch(() => undefined);
    await served?.close();
    this.#starting = undefined;
    this.#served = undefined;
    this.mcp.logger.info("HTTP MCP server stopped.");
  }

  async #serve(): Promise<ServedHttp> {
    const hub = await this.mcp.hub();
    const server: ServerConfig = hub.config.tree.server ?? {};
    return serveHttp(hub, { ...server, host: this.host, port: this.#wantedPort, shutdown_grace: STOP_MS });
  }
}

/** Initialises the core and serves it on HTTP in the background; the caller stops the server. */
export async function startHttpServer(
  host = "127.0.0.1",
  port = 8080,
  options: InitializeOptions = {},
): Promise<MCPHTTPServer> {
  const [mcp] = await initialize(true, false, options);
  const server = new MCPHTTPServer(mcp, host, port);
  await server.start();
  return server;
}
