const FOLDER = "/runtimes/typescript/";

/**
 * Returns the URL of the built file `name` of this folder. Node itself loads it (in the thread of its hooks, or in a
 * child). If this code runs from its TypeScript source, as in tests, the file under `dist/` is used.
 */
export function builtUrl(name: string, from: string = import.meta.url): string {
  if (!from.endsWith(".ts")) return new URL(name, from).href;
  const at = from.lastIndexOf(`/src${FOLDER}`);
  return `${from.slice(0, at)}/dist${FOLDER}${name}`;
}
