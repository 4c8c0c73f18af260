import { mkdir, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { expandHome } from "../../core/home-path.ts";
import type { FailKind } from "../../core/calls/kinds.ts";

/**
 * Thrown for a file that cannot be written. The message is for the caller and contains no path except the given one.
 */
export class FileRefusal extends Error {
  override readonly name = "FileRefusal";
  /** Outcome code of the failure. @default "tool_error" */
  readonly kind: FailKind;

  constructor(
    message: string,
    { kind = "tool_error", cause }: { readonly kind?: FailKind; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
  }
}

const MAX_PATH_CHARS = 1024;

/**
 * Resolves a caller's path with all links and returns the real path, which is inside one of the roots. Throws a
 * `FileRefusal` otherwise. Creates missing folders, inside only. A relative path starts at the first root. The folder
 * of the result exists, and its path contains no link.
 */
export async function confinedPath(path: string, roots: readonly string[]): Promise<string> {
  assertUsable(path);
  const { realRoot, wanted } = await lexicallyInside(path, roots);
  const real = await resolveLinks(wanted);
  if (!isInside(realRoot, real)) throw outside(path);
  const folder = dirname(real);
  await mkdir(folder, { recursive: true });
  // The path is checked again, because a link may have been created there since the first check.
  if ((await realpath(folder)) !== folder) throw outside(path);
  return real;
}

function assertUsable(path: string): void {
  if (path.trim() === "" || path.length > MAX_PATH_CHARS || path.includes("\0"))
    throw new FileRefusal(
      `\`file_path\` must be 1 to ${MAX_PATH_CHARS} characters without NUL. Give a path such as notes/today.md.`,
      { kind: "invalid_params" },
    );
  if (/[\\/]$/.test(path) || /^\.{1,2}$/.test(basename(path)))
    throw new FileRefusal(`\`${path}\` names a folder. Add the name of the file.`, { kind: "invalid_params" });
}

/** Resolves `..` before links. For a root that is a link, both of its paths are accepted. */
async function lexicallyInside(
  path: string,
  roots: readonly string[],
): Promise<{ readonly realRoot: string; readonly wanted: string }> {
  const [first = ""] = roots;
  const said = expandHome(path);
  const wanted = isAbsolute(said) ? resolve(said) : resolve(first, said);
  for (const root of roots) {
    await mkdir(root, { recursive: true });
    const realRoot = await realpath(root);
    if (isInside(root, wanted) || isInside(realRoot, wanted)) return { realRoot, wanted };
  }
  throw outside(path);
}

// Resolves the links of the existing part of a path. The missing part cannot contain links yet.
async function resolveLinks(path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch (error) {
      if (!isMissing(error) || dirname(at) === at) throw error;
      missing.unshift(basename(at));
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function outside(path: string): FileRefusal {
  return new FileRefusal(
    `\`${path}\` lies outside of the folders that files may be written to. ` +
      "Give a path relative to them, such as notes/today.md.",
    { kind: "denied" },
  );
}
