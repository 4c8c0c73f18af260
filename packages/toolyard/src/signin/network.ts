import { isLoopback } from "../core/uris/loopback.ts";
import { FailError } from "../core/errors.ts";
import { parseJsonObject } from "../core/json/json-object-text.ts";
import type { JsonObject } from "../core/json/json.ts";
import { mayBePublic } from "../outbound/addresses.ts";
import { OutboundClient, type OutboundRequest } from "../outbound/outbound-client.ts";
import type { ProxyEnvironment } from "../outbound/proxy.ts";
import { needsPerson } from "./failures.ts";

export interface NetworkOptions {
  /** Id of the source, for messages. */
  readonly label: string;
  /** The MCP server. */
  readonly url: URL;
  /** Configured addresses, which may be in private networks. */
  readonly trusted: readonly string[];
  readonly environment: ProxyEnvironment;
  readonly proxy?: string;
  readonly caFiles?: readonly string[];
}

export interface SignInResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly text: string;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 256 * 1024;

/**
 * Sends the requests that acquire a token. Their addresses come from servers, so for a public server only public https
 * addresses are allowed, and redirects are not followed.
 */
export class SignInNetwork {
  readonly #options: NetworkOptions;
  readonly #client: OutboundClient;

  constructor(options: NetworkOptions) {
    const { environment, proxy, caFiles } = options;
    this.#options = options;
    this.#client = new OutboundClient({
      userAgent: "toolyard",
      environment,
      ...(proxy !== undefined && { proxy }),
      ...(caFiles && { caFiles }),
    });
  }

  get label(): string {
    return this.#options.label;
  }

  async ask(
    address: string,
    asked: Pick<OutboundRequest, "method" | "headers" | "body"> = {},
    signal?: AbortSignal,
  ): Promise<SignInResponse> {
    const url = this.checked(address);
    const response = await this.#client.request({
      ...asked,
      service: `The authorisation of \`${this.label}\` at ${url.host}`,
      url,
      signal,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      reach: this.#reachOf(url),
      follows: false,
    });
    return { status: response.status, header: (name) => response.header(name), text: response.body.toString("utf8") };
  }

  /** Returns an address to which tokens, codes and users may be sent. Throws a `FailError` for any other address. */
  checked(address: string): URL {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const isPlain = url?.protocol === "http:" && this.#mayBePlain(url);
    const isUsable = url !== undefined && (url.protocol === "https:" || isPlain);
    if (isUsable && url.username === "" && url.password === "") return url;
    const shown = url && /^https?:$/.test(url.protocol) ? url.origin : "something that is no web address";
    throw needsPerson(
      this.label,
      `names ${shown} for its sign-in, which is not used: it must begin with https:// and hold no password.`,
    );
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /**
   * Returns whether an address may be unencrypted: on this machine, or if the MCP server itself is configured without
   * encryption.
   */
  #mayBePlain(url: URL): boolean {
    const { url: server } = this.#options;
    return isLoopback(url.hostname) ? !mayBePublic(server) : server.protocol === "http:" && url.host === server.host;
  }

  #reachOf(url: URL): OutboundRequest["reach"] {
    const { url: server, trusted } = this.#options;
    const isOwn = url.origin === server.origin || trusted.some((one) => new URL(one).origin === url.origin);
    return isOwn || !mayBePublic(server) ? "origin" : "public";
  }
}

/**
 * Returns the JSON object of a response with any content type; `undefined` if there is none. Its texts must never be
 * shown.
 */
export function objectIn({ text, header }: SignInResponse): JsonObject | undefined {
  const isForm = header("content-type")?.startsWith("application/x-www-form-urlencoded") === true;
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : parseJsonObject(text);
}

/** Returns whether an error is temporary: the server is unreachable, and has not refused the request. */
export function isPassing(error: unknown): boolean {
  return error instanceof FailError && (error.failure.kind === "unavailable" || error.failure.kind === "timeout");
}
