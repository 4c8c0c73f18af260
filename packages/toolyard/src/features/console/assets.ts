import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { Refusal } from "../../http/answer/refusal.ts";
import type { HttpExchange } from "../../http/exchange.ts";
import { distFolder } from "../../sandbox/node-flags.ts";

const decompress = promisify(brotliDecompress);
/** Matches compressed files. The build compresses every file with a digest in its name. */
const COMPRESSED = /\.br$/;
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
  // Permits frames with pages of MCP Apps, which have their own policy. Such a page cannot navigate its frame to
  // another host.
  "frame-src 'self'",
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
  /** Content of the file as it is on disk: compressed with brotli if `isCompressed` is true. */
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
  /** The content for clients without brotli. */
  plain: Promise<Buffer> | undefined;
}

/** The built files of the page, read at their first request. Their names contain a digest of their content. */
export class Assets {
  readonly #folder: string;
  readonly #names: ReadonlySet<string>;
  readonly #known = new Map<string, Asset>();

  constructor(folder: string = join(distFolder(), "console")) {
    this.#folder = folder;
    this.#names = new Set(readdirSync(join(folder, "assets")).map((file) => file.replace(COMPRESSED, "")));
  }

  sendIndex(exchange: HttpExchange): Promise<void> {
    return this.#send(exchange, this.#read("index.html", "index.html"), ["cache-control", "no-cache"]);
  }

  /** Throws a 404 for a name that is not a built file. */
  sendAsset(exchange: HttpExchange, name: string): Promise<void> {
    if (!this.#names.has(name)) throw new Refusal(404, "There is no such file. Reload the page.");
    const caching = ["cache-control", "public, max-age=31536000, immutable"];
    return this.#send(exchange, this.#read(name, join("assets", `${name}.br`)), caching);
  }

  #read(name: string, file: string): Asset {
    let asset = this.#known.get(file);
    if (!asset) {
      const type = TYPES[name.split(".").at(-1)!] ?? "application/octet-stream";
      const bytes = readFileSync(join(this.#folder, file));
      asset = { type, bytes, isCompressed: COMPRESSED.test(file), plain: undefined };
      this.#known.set(file, asset);
    }
    return asset;
  }

  async #send(exchange: HttpExchange, asset: Asset, caching: readonly string[]): Promise<void> {
    const { type, bytes, isCompressed } = asset;
    const head = ["content-type", type, "vary", "accept-encoding", ...caching, ...SECURITY];
    if (!isCompressed) return exchange.answer.send(200, head, bytes);
    if (/(?:^|[\s,])br\s*(?:[;,]|$)/.test(exchange.header("accept-encoding") ?? ""))
      return exchange.answer.send(200, [...head, "content-encoding", "br"], bytes);
    asset.plain ??= decompress(bytes);
    exchange.answer.send(200, head, await asset.plain);
  }
}
