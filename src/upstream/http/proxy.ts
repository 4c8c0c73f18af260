/** Proxy settings as the environment gives them; `resolveProxy` is handed a copy, so that nothing here reads the process. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for one server: the configured one, `"none"` for none at all, else what `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
 * `NO_PROXY` (either case) say. This machine itself is never reached by way of a proxy that only the environment names.
 */
export function resolveProxy(url: URL, configured: string | undefined, environment: ProxyEnvironment): string | undefined {
  if (configured === "none") return undefined;
  if (configured !== undefined) return withScheme(configured);
  const read = (name: string): string | undefined => environment[name.toLowerCase()] || environment[name] || undefined;
  const proxy = (url.protocol === "https:" ? read("HTTPS_PROXY") : read("HTTP_PROXY")) ?? read("ALL_PROXY");
  if (proxy === undefined || isLoopback(url.hostname) || isExempt(url, read("NO_PROXY") ?? "")) return undefined;
  return withScheme(proxy);
}

function withScheme(proxy: string): string {
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** `localhost`, `127.0.0.0/8` and `::1`, as `URL` writes them. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** `NO_PROXY`: names with or without a leading dot or `*.`, each with its subdomains, optionally with a port; `*` is everything. */
function isExempt(url: URL, noProxy: string): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  return noProxy.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, host, entryPort] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (!host || (entryPort !== undefined && entryPort !== port)) return false;
    return url.hostname === host || url.hostname === `[${host}]` || url.hostname.endsWith(`.${host}`);
  });
}
