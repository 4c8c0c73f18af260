import { OptionError } from "../../core/errors.ts";
import { readLeb } from "./leb.ts";
import type { MemoryTree, TreeFolder } from "./memory-tree.ts";
import { sectionsOf } from "./patch-module.ts";

/** Custom section with the standard library. Its format is described in `packages/python-wasi/README.md`. */
const SECTION = "python-library";
const CUSTOM = 0;
/** First part of all paths in the section. */
const ROOT_FOLDER = "usr";
const DAMAGED = "The Python interpreter's file is damaged: its standard library is incomplete. Install it again.";
/** Folder for compiled extensions. CPython warns at its start if the folder is missing; a build for WASI has none. */
const EXTENSIONS = "lib-dynload";

/**
 * Returns the standard library of a WebAssembly file as memory that all workers share, or undefined if the file has
 * none.
 */
export function readLibrary(wasm: Uint8Array): SharedArrayBuffer | undefined {
  for (const { id, content } of sectionsOf(wasm)) {
    if (id !== CUSTOM) continue;
    const name = readLeb(content, 0);
    const start = name.next + name.value;
    if (Buffer.from(content.subarray(name.next, start)).toString() !== SECTION) continue;
    const shared = new SharedArrayBuffer(content.length - start);
    new Uint8Array(shared).set(content.subarray(start));
    return shared;
  }
  return undefined;
}

/**
 * Adds the files of the standard library to the guest's tree, as the folder `/usr`. They are read-only and not copied.
 * An interpreter that continues from a snapshot often needs none of them, so they are added to the tree when the guest
 * first looks into the folder.
 */
export function mountLibrary(tree: MemoryTree, library: SharedArrayBuffer): void {
  tree.addOwnFolder(tree.find(tree.root, ROOT_FOLDER), (folder) => addFiles(tree, folder, library));
}

function addFiles(tree: MemoryTree, root: TreeFolder, library: SharedArrayBuffer): void {
  const bytes = new Uint8Array(library);
  for (let at = 0; at < bytes.length;) {
    const path = readLeb(bytes, at);
    const pathEnd = path.next + path.value;
    const data = readLeb(bytes, pathEnd);
    at = data.next + data.value;
    if (at > bytes.length) throw new OptionError(DAMAGED);
    const [top, ...steps] = Buffer.from(bytes.subarray(path.next, pathEnd)).toString().split("/");
    if (top !== ROOT_FOLDER) continue;
    const folder = steps.slice(0, -1).reduce((above, step) => ownFolder(tree, above, step), root);
    tree.addReadOnly(tree.find(folder, steps.at(-1)!), bytes.subarray(data.next, at));
    if (steps.at(-1) === "os.pyc") ownFolder(tree, folder, EXTENSIONS);
  }
}

function ownFolder(tree: MemoryTree, above: TreeFolder, step: string): TreeFolder {
  const place = tree.find(above, step);
  return place.node?.kind === "folder" ? place.node : tree.addOwnFolder(place);
}
