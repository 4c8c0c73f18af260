import { isAbsolute, relative, sep } from "node:path";

/** Returns whether `path` is `folder` or below it; both absolute, symbolic links resolved. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
