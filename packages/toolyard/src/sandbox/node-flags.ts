import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { resolveExtra } from "../extras/import-extra.ts";
import { sucrasePath } from "../runtimes/typescript/sucrase-path.ts";
import type { ChildSettings } from "./child-messages.ts";

/** Heap limit of the child's main thread, which only forwards messages. */
const CHILD_HEAP_MB = 512;
const SANDBOX_FOLDER = "/sandbox/";
/** Files outside of the sandbox's own folder that its code imports. */
const SHARED = ["core", join("runtimes", "typescript", "unsupported.js")];

/** Paths of the files that the child needs. */
export type ChildPaths = Pick<ChildSettings, "quickjs" | "quickjsWasm" | "sucrase" | "pythonWasm">;

/**
 * Returns the folder of the built files, because Node loads these itself. If this code runs from source, as in tests,
 * it is `dist`.
 */
export function distFolder(from: string = import.meta.url): string {
  const at = from.lastIndexOf(SANDBOX_FOLDER);
  const root = fileURLToPath(from.slice(0, at));
  return from.endsWith(".ts") ? join(dirname(root), "dist") : root;
}

/** Finds the packages. Throws if `quickjs-wasi` is not installed. */
export function childPaths(pythonWasm: string | undefined): ChildPaths {
  const require = createRequire(import.meta.url);
  const real = (name: string): string => realpathSync(require.resolve(name));
  const python = pythonWasm ?? resolveExtra("python", "@toolyard/python-wasi/python.wasm");
  return {
    quickjs: pathToFileURL(real("quickjs-wasi")).href,
    quickjsWasm: real("quickjs-wasi/quickjs.wasm"),
    sucrase: sucrasePath(),
    ...(python === undefined ? {} : { pythonWasm: existsSync(python) ? realpathSync(python) : python }),
  };
}

/**
 * Returns Node's arguments for a process without rights: it may read the files of its own program and start worker
 * threads. Code cannot be created from text, and WebAssembly uses the baseline compiler only, which halves start time
 * and memory.
 */
export function lockedArguments(paths: ChildPaths): string[] {
  const permission = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  return [
    permission,
    "--allow-worker",
    ...readablePaths(paths).map((path) => `--allow-fs-read=${path}`),
    "--disallow-code-generation-from-strings",
    "--liftoff-only",
    `--max-old-space-size=${CHILD_HEAP_MB}`,
    "--no-warnings",
    "--no-addons",
  ];
}

/** Returns the files that the child may read; folders end with a separator. */
export function readablePaths({ quickjsWasm, sucrase, pythonWasm }: ChildPaths): string[] {
  const dist = distFolder();
  return [
    // Node reads this file to determine that the other files are modules.
    join(dirname(dist), "package.json"),
    join(dist, "sandbox") + sep,
    ...SHARED.map((path) => (path.endsWith(".js") ? join(dist, path) : join(dist, path) + sep)),
    dirname(quickjsWasm) + sep,
    sucrase,
    ...(pythonWasm === undefined ? [] : [pythonWasm]),
  ];
}
