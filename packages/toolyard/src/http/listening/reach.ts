/** Address of a listener, and the name on its certificate. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly isSecure?: boolean;
  /** Name that the URL contains instead of the address. */
  readonly name?: string | undefined;
}

/** Returns the URL for callers on this machine, `http://host:port/base`. */
export function urlOf({ host, port, basePath, isSecure = false, name }: BoundAddress): string {
  const shown = name ?? (isEverywhere(host) ? "127.0.0.1" : host);
  const authority = shown.includes(":") && !shown.startsWith("[") ? `[${shown}]` : shown;
  return `${isSecure ? "https" : "http"}://${authority}:${port}${basePath}`;
}

/** Returns true if a listener at this address accepts connections on all addresses. */
export function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
