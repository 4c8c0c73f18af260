import { OptionError } from "../core/errors.ts";
import { isLoopback } from "../core/uris/loopback.ts";

/**
 * Proxy settings as the environment gives them; `resolveProxy` is handed a copy, so that nothing here reads the
 * process.
 */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for one server: the configured one, `"none"` for none at all, else what `HTTP_PROXY`, `HTTPS_PROXY`,
 * `ALL_PROXY` and `NO_PROXY` (either case) say. This machine itself is never reached by way of a proxy that only the
 * environment names. Throws an `OptionError` for something that is no HTTP proxy.
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
 * `NO_PROXY`: names with or without a leading dot or `*.`, each with its subdomains, optionally with a port; `*` is
 * everything.
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
