import { readFile } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import { within } from "../../core/timing/wait.ts";
import type { Sender } from "./sender.ts";

export interface ConnectionsOptions {
  /** Origin, if the connections serve only one. */
  readonly origin?: string;
  /** URL of a proxy; absent: none. */
  readonly proxy?: string;
  /** True if requests go through a tunnel of the proxy, as for HTTPS. */
  readonly isTunnel: boolean;
  readonly connectTimeoutMs: number;
  /** Maximum number of connections to one origin; a request above it waits for one. Every open stream occupies one. */
  readonly maxConnections: number;
  /** Time in milliseconds for which an idle connection is kept. @default 4 s */
  readonly keepAliveMs?: number;
  /** PEM files of CAs that are trusted in addition to those that Node trusts. They are read with the first request. */
  readonly caFiles?: readonly string[];
  /** Resolves host names if no proxy does. @default the system's resolver */
  readonly lookup?: LookupFunction;
  /** Creates the failure if a CA file cannot be read. */
  readonly onUntrusted?: (error: unknown) => Error;
}

const CLOSE_TIMEOUT_MS = 1000;

/**
 * Connections with the same proxy, CAs and DNS lookup. TLS certificates are always verified. A single server without a
 * proxy is reached with the HTTP/1.1 client of this package; proxies and several servers are reached with undici.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  #opening: Promise<Sender> | undefined;
  #opened: Sender | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Returns the sender: synchronously if it is already open, otherwise as a promise. */
  open(): Sender | Promise<Sender> {
    return this.#opened ?? (this.#opening ??= this.#open());
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    if (opened) await within(opened.destroy(), CLOSE_TIMEOUT_MS);
  }

  // The next request tries again after a failure, because the cause, such as a missing CA file, may have been removed.
  async #open(): Promise<Sender> {
    try {
      this.#opened = await this.#create();
      return this.#opened;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #create(): Promise<Sender> {
    const { origin, proxy, connectTimeoutMs, maxConnections, keepAliveMs, lookup } = this.#options;
    const ca = await this.#readTrusted();
    if (origin === undefined || proxy !== undefined) return this.#createUndici(ca);
    const { createHttp1Pool } = await import("./http1/pool.ts");
    const kept = keepAliveMs !== undefined && { keepAliveMs };
    return createHttp1Pool({ origin, connectTimeoutMs, maxConnections, ca, lookup, ...kept });
  }

  // The package is loaded with the first request: loading takes 70 ms and 18 MB, and most hubs never need it.
  async #createUndici(ca: string[] | undefined): Promise<Sender> {
    const { proxy, isTunnel, connectTimeoutMs, maxConnections, keepAliveMs, lookup } = this.#options;
    const { Agent, ProxyAgent } = await import("undici");
    const { UndiciSender } = await import("./undici-sender.ts");
    // Set explicitly, because Node would otherwise follow NODE_TLS_REJECT_UNAUTHORIZED in the environment.
    const tls = { timeout: connectTimeoutMs, rejectUnauthorized: true, ...(ca && { ca }) };
    // The sender has its own queue. The additional connection is for messages, which may exceed the limit.
    const shared = {
      connections: maxConnections + 1,
      ...(keepAliveMs !== undefined && { keepAliveTimeout: keepAliveMs }),
    };
    if (proxy === undefined)
      return new UndiciSender(new Agent({ ...shared, connect: { ...tls, ...(lookup && { lookup }) } }), maxConnections);
    const way = { uri: proxy, proxyTunnel: isTunnel, requestTls: tls, proxyTls: tls };
    return new UndiciSender(new ProxyAgent({ ...shared, ...way }), maxConnections);
  }

  // Configured CAs replace Node's own list, so that list is added to them.
  async #readTrusted(): Promise<string[] | undefined> {
    const { caFiles = [], onUntrusted } = this.#options;
    if (caFiles.length === 0) return undefined;
    const { rootCertificates } = await import("node:tls");
    try {
      return [...rootCertificates, ...(await Promise.all(caFiles.map((file) => readFile(file, "utf8"))))];
    } catch (error) {
      throw onUntrusted ? onUntrusted(error) : error;
    }
  }
}
