// Copies the declarations that programs can reach, directly or indirectly, from the package's entries into dist/. The
// other declarations stay in dist/.declarations/, which is not published.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * Copies the declarations reached by the entries of the package in the folder `root` to dist/; removes those no longer
 * reached.
 */
export function publishDeclarations(root) {
  const dist = join(root, "dist");
  const declared = join(dist, ".declarations");
  const reached = reach(root, declared);
  for (const path of reached) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    copyFileSync(join(declared, path), join(dist, path));
  }
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = relative(dist, join(entry.parentPath, entry.name));
    if (path.startsWith(".") || !path.endsWith(".d.ts") || reached.has(path)) continue;
    rmSync(join(dist, path));
  }
}

function reach(root, declared) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const waiting = Object.values(exports).flatMap(({ types }) => types ?? []);
  const reached = new Set();
  // Entries without a file here are omitted: the declarations of the servers are written later, and a handwritten
  // declaration is already in dist/.
  const paths = waiting
    .flatMap((types) => matching(declared, relative("dist", types)))
    .filter((path) => existsSync(join(declared, path)));
  while (paths.length > 0) {
    const path = paths.pop();
    if (reached.has(path)) continue;
    reached.add(path);
    const text = readFileSync(join(declared, path), "utf8");
    for (const [, name] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g)) {
      paths.push(join(dirname(path), name.replace(/(?:\.d)?\.[jt]s$/, ".d.ts")));
    }
  }
  return reached;
}

/** Returns the declarations of a path in the manifest, in which `*` is any file name. */
function matching(declared, path) {
  const [before, after] = path.split("*");
  const folder = join(declared, before);
  if (after === undefined || !existsSync(folder)) return [path];
  return readdirSync(folder)
    .filter((name) => name.endsWith(after))
    .map((name) => before + name);
}
