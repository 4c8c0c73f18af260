/* oxlint-disable max-lines-per-function -- Runs inside the sandbox by its own text, so all of it is one function. */
import type { GuestHost } from "./host.ts";

/**
 * Runs inside the sandbox. Returns `URL` and `URLSearchParams`. The worker parses URLs, with the same rules as Node.
 */
export function guestUrl(host: GuestHost): Readonly<Record<string, unknown>> {
  const { parse } = JSON;
  type UrlParts = Record<string, string>;

  const decode = (text: string): string => {
    const spaced = text.split("+").join(" ");
    try {
      return decodeURIComponent(spaced);
    } catch {
      return spaced;
    }
  };
  const encode = (text: string): string =>
    encodeURIComponent(text)
      .replace(/%20/g, "+")
      .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

  class URLSearchParams {
    #pairs: [string, string][] = [];
    #onChange: (() => void) | undefined;

    constructor(init?: unknown, onChange?: () => void) {
      if (typeof init === "string") this.#pairs = this.#read(init);
      else if (typeof init === "object" && init !== null) {
        const entries = Symbol.iterator in init ? [...(init as Iterable<[unknown, unknown]>)] : Object.entries(init);
        this.#pairs = entries.map(([name, value]) => [String(name), String(value)]);
      }
      this.#onChange = onChange;
    }
    #read(text: string): [string, string][] {
      const pairs = text
        .replace(/^\?/, "")
        .split("&")
        .filter((part) => part !== "");
      return pairs.map((part) => {
        const at = part.indexOf("=");
        return at < 0 ? [decode(part), ""] : [decode(part.slice(0, at)), decode(part.slice(at + 1))];
      });
    }
    get size(): number {
      return this.#pairs.length;
    }
    append(name: unknown, value: unknown): void {
      this.#pairs.push([String(name), String(value)]);
      this.#onChange?.();
    }
    delete(name: unknown): void {
      this.#pairs = this.#pairs.filter(([key]) => key !== String(name));
      this.#onChange?.();
    }
    get(name: unknown): string | null {
      return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null;
    }
    getAll(name: unknown): string[] {
      return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
    }
    has(name: unknown): boolean {
      return this.#pairs.some(([key]) => key === String(name));
    }
    set(name: unknown, value: unknown): void {
      const at = this.#pairs.findIndex(([key]) => key === String(name));
      if (at < 0) return this.append(name, value);
      this.#pairs = this.#pairs.filter(([key], index) => index <= at || key !== String(name));
      this.#pairs[at] = [String(name), String(value)];
      this.#onChange?.();
    }
    sort(): void {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#onChange?.();
    }
    forEach(visit: (value: string, name: string, all: this) => void): void {
      for (const [name, value] of this.#pairs) visit(value, name, this);
    }
    *entries(): IterableIterator<[string, string]> {
      yield* this.#pairs.map(([name, value]): [string, string] => [name, value]);
    }
    *keys(): IterableIterator<string> {
      for (const [name] of this.#pairs) yield name;
    }
    *values(): IterableIterator<string> {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator](): IterableIterator<[string, string]> {
      return this.entries();
    }
    toString(): string {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
    }
  }

  const read = (request: readonly string[]): UrlParts => {
    const answer = host("url", JSON.stringify(request)) as string;
    if (answer === "") throw new TypeError(`Invalid URL: ${request[0]}`);
    return parse(answer) as UrlParts;
  };

  class URL {
    #parts: UrlParts;
    #params: URLSearchParams | undefined;

    constructor(url: unknown, base?: unknown) {
      this.#parts = read(base === undefined ? [String(url)] : [String(url), String(base)]);
    }
    static canParse(url: unknown, base?: unknown): boolean {
      try {
        return Boolean(new URL(url, base));
      } catch {
        return false;
      }
    }
    get searchParams(): URLSearchParams {
      this.#params ??= new URLSearchParams(
        this.#parts["search"],
        () => void (this.#parts = read([this.#parts["href"]!, "", "search", String(this.#params)])),
      );
      return this.#params;
    }
    part(name: string): string {
      return this.#parts[name]!;
    }
    change(name: string, value: string): void {
      this.#parts = read([this.#parts["href"]!, "", name, value]);
      if (name === "search" || name === "href") this.#params = undefined;
    }
    toString(): string {
      return this.#parts["href"]!;
    }
    toJSON(): string {
      return this.#parts["href"]!;
    }
  }
  const { part, change } = URL.prototype;
  for (const name of [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
  ]) {
    Object.defineProperty(URL.prototype, name, {
      get(this: URL) {
        return part.call(this, name);
      },
      set(this: URL, value: unknown) {
        if (name !== "origin") change.call(this, name, String(value));
      },
      enumerable: true,
      configurable: true,
    });
  }
  for (const name of ["part", "change"]) Reflect.deleteProperty(URL.prototype, name);
  return { URL, URLSearchParams };
}
