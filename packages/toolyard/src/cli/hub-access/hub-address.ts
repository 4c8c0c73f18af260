import { resolveHttp } from "../../http/options.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";
import { ownUrl } from "./own-url.ts";
import { parseUrl, readToken } from "./session.ts";
import { loadSettings } from "./settings.ts";

/** Default path of REST, also for a hub behind `--url`, whose configuration is not known. */
const REST_PATH = "/api";

/** Addresses of a running hub. */
export interface HubAddress {
  /** URL without a slash at its end, to which a path is appended. */
  readonly base: string;
  /** URL of REST, without a slash at its end. */
  readonly rest: string;
  readonly token: string | undefined;
}

/** Returns the address in `--url` without the path of its endpoint, or else the address of the configured hub. */
export async function hubAddress(options: SharedOptions, io: Io): Promise<HubAddress> {
  if (options.url !== undefined) {
    const { origin, pathname } = parseUrl(options.url);
    const base = `${origin}${pathname.replace(/\/(?:mcp|sse)?\/?$/, "")}`;
    return { base, rest: `${base}${REST_PATH}`, token: readToken(options, io) };
  }
  const { server = {}, rest } = (await loadSettings(options, io)).tree;
  // `insecure` skips the check of the host, which the hub makes itself when it starts to listen.
  const base = await ownUrl(resolveHttp({ ...server, insecure: true }));
  return { base, rest: `${base}${rest?.base_path ?? REST_PATH}`, token: readToken(options, io) ?? server.token };
}
