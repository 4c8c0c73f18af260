import { signal } from "@preact/signals";

/** The view and its arguments, from the address: `#/tools/files__read` is `["tools", "files__read"]`. */
export const route = signal<readonly string[]>(readRoute());

function readRoute(): readonly string[] {
  const parts = location.hash.replace(/^#\/?/, "").split("/");
  return parts.filter((part) => part !== "").map(decode);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the address of a view. Names may contain any character. */
export function href(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

export function go(...parts: readonly string[]): void {
  location.hash = href(...parts);
}

addEventListener("hashchange", () => (route.value = readRoute()));
