import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { Refusal } from "../../http/answer/refusal.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { distFolder } from "../../sandbox/node-flags.ts";

const compress = promisify(brotliCompress);
/** Compression level. A higher level would delay the first view. */
const QUALITY = 5;
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  html: "text/html; charset=utf-8",
};

/** Policy of the page: no content from other hosts, no inline scripts or styles, and no frame around the page. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY = [
  "content-security-policy",
  CONSOLE_POLICY,
  "x-frame-options",
  "DENY",
  "x-content-type-options",
  "nosniff",
  "referrer-policy",
  "same-origin",
  "cross-origin-opener-policy",
  "same-origin",
  "cross-origin-resource-policy",
  "same-origin",
] as const;

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  compressed: Promise<Buffer> | undefined;
}

/** The built files of the page. Each one is read at its first request. Their names contain a digest of the content. */
export class Assets {
  readonly #folder: string;
  readonly #names: ReadonlySet<string>;
  readonly #known = new Map<string, Asset>();

  constructor(folder: string = join(distFolder(), "console")) {
    this.#folder = folder;
    this.#names = new Set(readdirSync(join(folder, "assets")));
  }

  sendIndex(exchange: HttpExchange): Promise<void> {
    return this.#send(exchange, this.#read("index.html"), ["cache-control", "no-cache"]);
  }

  /** Sends a built file. Throws a `Refusal` with status 404 for any other name. */
  sendAsset(exchange: HttpExchange, name: string): Promise<void> {
    if (!this.#names.has(name)) throw new Refusal(404, "There is no such file. Reload the page.");
    const caching = ["cache-control", "public, max-age=31536000, immutable"];
    return this.#send(exchange, this.#read(join("assets", name)), caching);
  }

  #read(path: string): Asset {
    let asset = this.#known.get(path);
    if (!asset) {
      const type = TYPES[path.split(".").at(-1)!] ?? "application/octet-stream";
      asset = { type, bytes: readFileSync(join(this.#folder, path)), compressed: undefined };
      this.#known.set(path, asset);
    }
    return asset;
  }

  async #send(exchange: HttpExchange, asset: Asset, caching: readonly string[]): Promise<void> {
    const head = ["content-type", asset.type, "vary", "accept-encoding", ...caching, ...SECURITY];
    if (!/(?:^|[\s,])br\s*(?:[;,]|$)/.test(exchange.header("accept-encoding") ?? ""))
      return exchange.answer.send(200, head, asset.bytes);
    asset.compressed ??= compress(asset.bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
    exchange.answer.send(200, [...head, "content-encoding", "br"], await asset.compressed);
  }
}
