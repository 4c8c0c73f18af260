import { readFile } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import type { Agent, Pool, ProxyAgent } from "undici";
import { within } from "../../core/wait.ts";

export interface ConnectionsOptions {
  /** Present: only this origin is asked over them. */
  readonly origin?: string;
  /** URL of a proxy; absent: none. */
  readonly proxy?: string;
  /** Whether a proxy is to make a tunnel, as HTTPS needs it. */
  readonly isTunnel: boolean;
  readonly connectTimeoutMs: number;
  /** Bound of connections to one origin; a request beyond it waits for one. Every open stream takes one. */
  readonly maxConnections: number;
  /** How long one that nobody uses is kept. @default undici's own */
  readonly keepAliveMs?: number;
  /**
   * PEM files of CAs that are trusted besides those that Node trusts by itself. They are read with the first request.
   */
  readonly caFiles?: readonly string[];
  /** How names become addresses, where no proxy does that. @default the system's way */
  readonly lookup?: LookupFunction;
  /** The failure for a CA file that cannot be read. */
  readonly onUntrusted?: (error: unknown) => Error;
}

type Opened = Agent | Pool | ProxyAgent;

const CLOSE_TIMEOUT_MS = 1000;

/** Connections of one kind: with this proxy, these CAs, this way of looking up names. TLS is always verified. */
export class Connections {
  readonly #options: ConnectionsOptions;
  #opened: Promise<Opened> | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  // What could not be made is tried again with the next request: the CA file may be there by then.
  open(): Promise<Opened> {
    this.#opened ??= this.#create().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    if (opened) await within(opened.destroy(), CLOSE_TIMEOUT_MS);
  }

  // Loaded with the first request: it costs 70 ms and 18 MB, and a hub that asks nobody never needs it.
  async #create(): Promise<Opened> {
    const { origin, proxy, isTunnel, connectTimeoutMs, maxConnections, keepAliveMs, lookup } = this.#options;
    const ca = await this.#readTrusted();
    const { Agent, Pool, ProxyAgent } = await import("undici");
    const tls = { timeout: connectTimeoutMs, ...(ca && { ca }) };
    const shared = { connections: maxConnections, ...(keepAliveMs !== undefined && { keepAliveTimeout: keepAliveMs }) };
    if (proxy !== undefined)
      return new ProxyAgent({ ...shared, uri: proxy, proxyTunnel: isTunnel, requestTls: tls, proxyTls: tls });
    const direct = { ...shared, connect: { ...tls, ...(lookup && { lookup }) } };
    return origin === undefined ? new Agent(direct) : new Pool(origin, direct);
  }

  // Naming a CA replaces Node's own list, so that list is repeated.
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
