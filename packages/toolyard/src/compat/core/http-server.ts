import { OptionError } from "../../core/errors.ts";
import type { ServerConfig } from "../../hub/serve/endpoints.ts";
import { serveHttp, type ServedHttp } from "../../hub/serve/serve.ts";
import { initialize, type InitializeOptions } from "./initialize.ts";
import type { MCP } from "./mcp.ts";

/** Time that calls in flight get after a request to stop (G35). */
const STOP_MS = 1000;

/**
 * A core on HTTP: the plain dialect at `/` and `/jsonrpc`, MCP there and at `/mcp`. Other options of `[server]` in the
 * core's settings apply as well; an address beyond this machine requires a token.
 */
export class MCPHTTPServer {
  readonly mcp: MCP;
  readonly host: string;
  readonly #wantedPort: number;
  #starting: Promise<ServedHttp> | undefined;
  #served: ServedHttp | undefined;

  /** @param port 0 chooses a free one */
  constructor(mcp: MCP, host = "127.0.0.1", port = 8080) {
    this.mcp = mcp;
    this.host = host;
    this.#wantedPort = port;
  }

  /** The actual port, once the server listens. */
  get port(): number {
    return this.#served?.address.port ?? this.#wantedPort;
  }

  /** `http://host:port`, once the server listens. */
  get url(): string | undefined {
    return this.#served?.address.url;
  }

  /** Serves in the background; resolves once it listens. Rejects with an `OptionError` on failure. */
  async start(): Promise<void> {
    if (this.#starting)
      throw new OptionError(
        `This server is started already, at port ${this.port}. Stop it first, or make another one.`,
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

  /** Stops accepting requests, lets those in flight end within a second, and closes the socket. */
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
