/** Where something listens, and what its certificate is for. */
export interface BoundAddress {
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly isSecure?: boolean;
  /** Name to be reached by, in place of the address. */
  readonly name?: string | undefined;
}

/** `http://host:port/base` by which callers on this machine reach what is bound. */
export function urlOf({ host, port, basePath, isSecure = false, name }: BoundAddress): string {
  const shown = name ?? (isEverywhere(host) ? "127.0.0.1" : host);
  const authority = shown.includes(":") && !shown.startsWith("[") ? `[${shown}]` : shown;
  return `${isSecure ? "https" : "http"}://${authority}:${port}${basePath}`;
}

/** Whether a listener at this address takes connections at all addresses. */
export function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
