import { fileURLToPath } from "node:url";

/** The module with the tools that the agent's tests use. */
export const toolsFile = fileURLToPath(new URL("./tools.mjs", import.meta.url));

interface Tools {
  readonly RED_DOT: string;
  readonly load: { now: number; most: number };
  readonly hanging: { started(): void; ended(): void };
}
export const { RED_DOT, load, hanging } = (await import(/* @vite-ignore */ toolsFile)) as Tools;
