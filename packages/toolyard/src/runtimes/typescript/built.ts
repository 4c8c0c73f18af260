const FOLDER = "/runtimes/typescript/";

/**
 * Where the built file `name` of this folder lies. Node itself loads it (in its hooks' thread, in a child), so when
 * this code runs from its TypeScript source, as it does in tests, the counterpart under `dist/` stands in.
 */
export function builtUrl(name: string, from: string = import.meta.url): string {
  if (!from.endsWith(".ts")) return new URL(name, from).href;
  const at = from.lastIndexOf(`/src${FOLDER}`);
  return `${from.slice(0, at)}/dist${FOLDER}${name}`;
}
