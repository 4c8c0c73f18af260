import { isAbsolute, relative, sep } from "node:path";

/** Whether `path` lies in `folder` or below; both absolute, symbolic links resolved. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
