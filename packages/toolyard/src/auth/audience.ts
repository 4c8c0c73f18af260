import type { AccessPlace } from "../core/access.ts";

/** Decides whether an access token was made for this hub (RFC 8707, MCP 2025-11-25 "Token audience binding"). */
export class Audience {
  readonly #configured: ReadonlySet<string>;
  #base: URL | undefined;
  #isMount: (path: string) => boolean = () => false;

  constructor(configured: readonly string[]) {
    this.#configured = new Set(configured);
  }

  /** Sets the address of the hub and its endpoints, which are accepted too. */
  use({ baseUrl, isMount }: AccessPlace): void {
    this.#base = new URL(baseUrl);
    this.#isMount = isMount;
  }

  /** Returns true if `aud`, a string or a list of strings, names this hub. */
  matches(aud: unknown): boolean {
    const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
    return values.some((value) => typeof value === "string" && (this.#configured.has(value) || this.#isOwn(value)));
  }

  #isOwn(value: string): boolean {
    const base = this.#base;
    const url = base && URL.canParse(value) ? new URL(value) : undefined;
    if (!base || !url || url.origin !== base.origin) return false;
    if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false;
    const [path, basePath] = [withoutEndSlash(url.pathname), withoutEndSlash(base.pathname)];
    if (path === basePath) return true;
    // Other programs may be served at the same origin, so only the paths of this hub's endpoints are accepted.
    return path.startsWith(`${basePath}/`) && this.#isMount(path.slice(basePath.length));
  }
}

function withoutEndSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
