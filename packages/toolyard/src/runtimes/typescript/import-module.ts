import { pathToFileURL } from "node:url";
import { builtUrl } from "./built.ts";
import { transformCacheFolder } from "./cache-folder.ts";
import type { Graph } from "./graph.ts";
import type * as nativeImport from "./native-import.ts";
import { findSyntaxError } from "./syntax-place.ts";
import { firstChars } from "../../core/text/truncate.ts";

/**
 * Maximum number of characters of a stack in which the position of an error is searched. The position is in the first
 * line, after one path.
 */
const MAX_STACK_CHARS = 8_192;

/** A user's module in the state that its files had at one time. */
export interface UserModule {
  readonly namespace: Readonly<Record<string, unknown>>;
}

/**
 * Number of failed imports by file and version. It becomes part of the URL, because Node never evaluates a failed
 * module again under the same URL.
 */
const failures = new Map<string, number>();
const MAX_FAILURES_KEPT = 1000;
/** Versions of CommonJS files that may be in Node's cache. */
const imported = new Map<string, string>();

/**
 * Imports a user's module in this process, TypeScript or JavaScript, and detects changes in the whole graph of relative
 * imports. An unchanged graph returns the existing instance. Rejects with the module's error, or a `TypeScriptError`.
 */
export async function importUserModule(graph: Graph): Promise<UserModule> {
  const entry = graph.files[0]!;
  const key = `${entry}?${graph.version}`;
  const failed = failures.get(key) ?? 0;
  const version = failed === 0 ? graph.version : `${graph.version}.${failed}`;
  const native = (await import(builtUrl("native-import.js"))) as typeof nativeImport;
  if (imported.get(entry) !== version) native.forgetCommonJs(graph.files);
  imported.set(entry, version);
  try {
    const hooks = { wanted: graph.needsHooks, cacheFolder: transformCacheFolder() };
    return { namespace: await native.importNatively(`${pathToFileURL(entry).href}?v=${version}`, hooks) };
  } catch (error) {
    if (failures.size >= MAX_FAILURES_KEPT) failures.clear();
    failures.set(key, failed + 1);
    throw error;
  }
}

/**
 * Returns the error of an import in one line, with the position in the user's file. If Node does not name the position,
 * the files are checked.
 */
export async function describeImportError(error: unknown, graph: Graph): Promise<string> {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof SyntaxError)) return error.message;
  const stack = firstChars(error.stack ?? "", MAX_STACK_CHARS);
  // oxlint-disable-next-line toolyard/slow-pattern -- At most MAX_STACK_CHARS.
  const place = /^file:\/\/\S*?([^/\s?]+)(?:\?\S*?)?:(\d+)\n/u.exec(stack) ?? (await findSyntaxError(graph.files));
  const hint = /does not provide an export named/u.test(error.message)
    ? " If the name is a type, write `import type`."
    : "";
  return `${place ? `${place[1]}:${place[2]}: ` : ""}${error.message}.${hint}`;
}
