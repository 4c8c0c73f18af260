import { FailError } from "../core/errors.ts";
import { outboundFailure, outboundTimeout, statusFailure } from "./failures.ts";
import { OutboundClient } from "./outbound-client.ts";
import type { ProxyEnvironment } from "./proxy.ts";

export interface DownloadOptions {
  /** Value of `User-Agent`, sent with every request to identify the program. */
  readonly userAgent: string;
  /**
   * Time limit in milliseconds for everything, from the first request to the last byte after redirects. @default 60000
   */
  readonly timeoutMs?: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Environment variables with proxy settings. @default process.env */
  readonly environment?: ProxyEnvironment;
  /** PEM files of CAs that are trusted in addition to Node's own. @default none */
  readonly caFiles?: readonly string[];
}

export interface Download {
  /** URL after redirects. */
  readonly url: URL;
  /** Media type that the sender reports, in lower case and without parameters. */
  readonly mime?: string;
  readonly body: Uint8Array;
}

const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 60_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Downloads a URL from an untrusted caller: https only, a public host at every redirect, and each host name is resolved
 * only once. Rejects with a `FailError`.
 */
export async function downloadPublic(address: URL, options: DownloadOptions): Promise<Download> {
  const { userAgent, timeoutMs = TIMEOUT_MS, maxBytes, environment = process.env, caFiles = [] } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  const client = new OutboundClient({ userAgent, environment, caFiles });
  try {
    return await followed(address, (url, service) =>
      client.request({ service, url, signal, timeoutMs, maxBytes, reach: "public", follows: false }),
    );
  } catch (error) {
    // The time limit applies to all redirects together. A timeout is not reported if the caller has cancelled.
    if (!timeout.aborted || options.signal?.aborted === true) throw error;
    throw outboundTimeout(address.host, timeoutMs);
  } finally {
    await client.close();
  }
}

type DownloadFetch = (url: URL, service: string) => Promise<Response>;

async function followed(address: URL, ask: DownloadFetch): Promise<Download> {
  let url = address;
  for (let steps = 0; steps <= MAX_REDIRECTS; steps += 1) {
    const service = expectHttps(url);
    const response = await ask(url, service);
    const location = response.header("location");
    if (!REDIRECTS.has(response.status) || location === undefined) return found(url, service, response);
    if (!URL.canParse(location, url.href))
      throw outboundFailure("malformed", { service, what: "redirects to an address that cannot be used." });
    url = new URL(location, url);
  }
  throw outboundFailure(
    "unavailable",
    { service: address.host, what: `redirects more than ${MAX_REDIRECTS} times. Check its address.` },
    { retryable: false },
  );
}

type Response = Awaited<ReturnType<OutboundClient["request"]>>;

function found(url: URL, service: string, { status, body, header }: Response): Download {
  if (status !== 200) throw new FailError(statusFailure(service, status, undefined).failure);
  const [mime = ""] = (header("content-type") ?? "").toLowerCase().split(";");
  return { url, body, ...(mime.trim() !== "" && { mime: mime.trim() }) };
}

function expectHttps(url: URL): string {
  if (url.protocol === "https:" && url.username === "" && url.password === "") return url.host;
  throw outboundFailure("denied", {
    service: url.host || "The address",
    what: "is requested only by https and without a user name, and was not requested.",
  });
}
