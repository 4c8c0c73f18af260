import { readFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { versionOfUrl } from "./graph.ts";
import { resolveFile } from "./resolve-file.ts";
import { TypeScriptError } from "./transform.ts";
import { transformCached } from "./transform-cache.ts";

/**
 * Node's module hooks for the user's files. The same two functions serve the synchronous hooks of newer Node versions,
 * which run in the importing thread, and the older hooks in a separate thread: the result of `next` is passed on,
 * whether it is a promise or not. Only the user's own files are changed; imports of packages pass through.
 */
interface ResolveContext {
  readonly parentURL?: string | undefined;
  readonly conditions?: readonly string[];
  readonly importAttributes?: Record<string, string>;
}

interface HookResolution {
  readonly url: string;
  readonly format?: string | null | undefined;
  readonly importAttributes?: Record<string, string>;
  readonly shortCircuit?: boolean;
}

interface HookLoad {
  readonly format: string;
  readonly source?: unknown;
  readonly shortCircuit?: boolean;
}

type MaybePromise<T> = T | Promise<T>;
type NextResolve = (specifier: string, context?: ResolveContext) => MaybePromise<HookResolution>;
type NextLoad = (url: string, context?: object) => MaybePromise<HookLoad>;

const TYPESCRIPT = /\.m?ts$/u;
const REFUSED = /\.(?:cts|tsx)$/u;
/**
 * The module with which a script reaches the hub. It is not among the package's exports, so it is resolved here without
 * an installation.
 */
const SCRIPT_HELPERS = new URL("../calling/node/toolyard/script/index.mjs", import.meta.url).href;
const OWN_FOLDER = new URL("../../", import.meta.url).href;

let cacheFolder: string | undefined;

/** Called by Node with the data given to `register`. */
export function initialize(data: { readonly cacheFolder?: string } | undefined): void {
  cacheFolder = data?.cacheFolder;
}

export function resolve(specifier: string, context: ResolveContext, next: NextResolve): MaybePromise<HookResolution> {
  const parent = context.parentURL;
  if (parent === undefined || !isUserFile(parent)) return next(specifier, context);
  if (specifier === "toolyard/script") return { url: SCRIPT_HELPERS, format: "module", shortCircuit: true };
  if (specifier === "toolyard" || specifier.startsWith("toolyard/")) {
    // `toolyard` always resolves to the hub that runs the module, not to a copy that may be installed next to the
    // module.
    return next(specifier, { ...context, parentURL: import.meta.url });
  }
  if (!/^(?:\.{1,2}\/|\/|file:)/u.test(specifier))
    return explainPackage(specifier, parent, (name) => next(name, context));
  const target = new URL(specifier, parent);
  const path = fileURLToPath(target);
  const file = resolveFile(path);
  if (file === undefined)
    throw new TypeScriptError(`${fileName(parent)} imports "${specifier}", and there is no such file. Check the path.`);
  return then(next(file === path ? specifier : pathToFileURL(file).href + target.search, context), (result) =>
    settle(result, parent),
  );
}

export function load(url: string, context: object, next: NextLoad): MaybePromise<HookLoad> {
  if (!url.startsWith("file:")) return next(url, context);
  const path = fileURLToPath(url);
  if (REFUSED.test(path) && isUserFile(url)) {
    throw new TypeScriptError(
      `${basename(path)}: only .ts and .mts files can be run. Rename the file, or compile it and name the .js file.`,
    );
  }
  if (!TYPESCRIPT.test(path)) return next(url, context);
  return {
    format: "module",
    source: transformCached(readFileSync(path, "utf8"), path, cacheFolder),
    shortCircuit: true,
  };
}

/** Completes Node's resolution: adds the format of an unknown file, and the version derived from the importer's. */
function settle(result: HookResolution, parent: string): HookResolution {
  const url = new URL(result.url);
  const version = new URL(parent).searchParams.get("v");
  if (version !== null && isUserFile(result.url)) url.searchParams.set("v", childVersion(url.href, version));
  const settled = { ...result, url: url.href };
  if (TYPESCRIPT.test(url.pathname)) return { ...settled, format: "module" };
  // TypeScript allows importing a JSON file without an attribute; Node requires it.
  if (url.pathname.endsWith(".json"))
    return { ...settled, format: "json", importAttributes: { ...result.importAttributes, type: "json" } };
  return settled;
}

/**
 * Returns the version for an imported file. A version is a hash, a dot, and the number of repeated imports. That number
 * is the same for the whole graph.
 */
function childVersion(url: string, parentVersion: string): string {
  const attempt = parentVersion.split(".")[1];
  return versionOfUrl(url) + (attempt === undefined ? "" : `.${attempt}`);
}

/** Resolves a package. If the package is not installed, resolves a file of the libraries with this name. */
function explainPackage(
  specifier: string,
  parent: string,
  find: (specifier: string) => MaybePromise<HookResolution>,
): MaybePromise<HookResolution> {
  const explain = (error: unknown): MaybePromise<HookResolution> => {
    if ((error as NodeJS.ErrnoException | null)?.code !== "ERR_MODULE_NOT_FOUND") throw error;
    const library = libraryFile(specifier);
    if (library !== undefined) return then(find(pathToFileURL(library).href), (result) => settle(result, parent));
    throw new TypeScriptError(
      `${fileName(parent)} imports "${specifier}", and no such package is installed next to it or above. ` +
        "Install it there; if it is a path of tsconfig.json, write a relative path, since `paths` is not " +
        "read.",
      { cause: error },
    );
  };
  try {
    const result = find(specifier);
    return result instanceof Promise ? result.catch(explain) : result;
  } catch (error) {
    return explain(error);
  }
}

/** Returns the file of a library. Only child processes of scripts know the names of library folders. */
function libraryFile(specifier: string): string | undefined {
  const folders = (process.env["TOOLYARD_LIBRARIES"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => resolveFile(join(folder, specifier))).find((file) => file !== undefined);
}

function isUserFile(url: string): boolean {
  return url.startsWith("file:") && !url.includes("/node_modules/") && !url.startsWith(OWN_FOLDER);
}

function fileName(url: string): string {
  return basename(fileURLToPath(url));
}

function then<T, U>(value: MaybePromise<T>, use: (value: T) => U): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}
