import { OptionError } from "../core/errors.ts";
import { isLoopback } from "../core/uris/loopback.ts";

/**
 * Environment variables with proxy settings. `resolveProxy` receives a copy, so that nothing here reads the process.
 */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy for one server: the configured one, none for `"none"`, else the one that `HTTP_PROXY`,
 * `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` (either case) define. Proxies from the environment are never used for this
 * machine itself. Throws an `OptionError` for a value that is no HTTP proxy.
 */
export function resolveProxy(
  url: URL,
  configured: string | undefined,
  environment: ProxyEnvironment,
): string | undefined {
  if (configured === "none" || configured === "") return undefined;
  if (configured !== undefined) return checked(configured, "proxy");
  const read = (name: string): string | undefined => environment[name.toLowerCase()] || environment[name] || undefined;
  const variable = [url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY", "ALL_PROXY"].find(
    (name) => read(name) !== undefined,
  );
  if (variable === undefined || isLoopback(url.hostname) || isExempt(url, read("NO_PROXY") ?? "")) return undefined;
  return checked(read(variable) ?? "", variable);
}

// The value may hold a password, so the message does not repeat it.
function checked(proxy: string, name: string): string {
  const text = proxy.includes("://") ? proxy : `http://${proxy}`;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new OptionError(
    `\`${name}\` is not the address of an HTTP proxy. It must look like http://proxy.example.com:3128; ` +
      `\`proxy = "none"\` goes without one.`,
  );
}

/**
 * Returns whether `NO_PROXY` exempts a URL. It lists names with or without a leading dot or `*.`, which include
 * subdomains, optionally with a port; `*` exempts everything.
 */
function isExempt(url: URL, noProxy: string): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, host, entryPort] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (!host || (entryPort !== undefined && entryPort !== port)) return false;
    return url.hostname === host || url.hostname === `[${host}]` || url.hostname.endsWith(`.${host}`);
  });
}
