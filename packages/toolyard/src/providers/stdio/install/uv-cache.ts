import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The output of a failed start of `uvx`, and the cache that it used. */
export interface UvFinding {
  /** Output of the start. */
  readonly text: string;
  /** Folders that the output names. */
  readonly folders: readonly string[];
  readonly cache: string;
  /** Name of the distribution in the environment. */
  readonly distribution: string;
}

const ARCHIVES = "archive-v0";
/** Maximum number of environments that are searched for a missing program or missing libraries. */
const MAX_LOOKED_AT = 1000;

/**
 * Returns further folders to remove, from which uv would restore the fault: the files of an environment are links to
 * unpacked wheels, and `wheels-v…` records which wheel was unpacked where. `uv cache clean` also removes these, but it
 * waits for every server that runs under `uvx`.
 */
export function uvLeftovers({ text, folders, cache, distribution }: UvFinding): readonly string[] {
  const environments = [...folders, ...withoutProgram(text, cache, distribution)];
  const names = new Set(environments.flatMap(distributionsIn));
  for (const [, name] of text.matchAll(/Failed to install: \S+ \(([\w.-]+)==/g)) names.add(normalised(name!));
  const pointers = wheelFolders(cache).flatMap((folder) => Array.from(names, (name) => join(folder, name)));
  return [...environments.slice(folders.length), ...pointers.filter((path) => existsSync(path))];
}

/** Returns the environments that lack the program. uv reports a missing program but not its environment. */
function withoutProgram(text: string, cache: string, distribution: string): readonly string[] {
  const [, program] = /Failed to spawn: `?([\w.-]+)`?/i.exec(text) ?? [];
  if (program === undefined) return [];
  return environmentsIn(cache)
    .filter((folder) => !hasProgram(folder, program))
    .filter((folder) => distributionsIn(folder).includes(normalised(distribution)));
}

/**
 * Returns environments that have the program but no libraries. If uv uses such an environment, it exits without a
 * message.
 */
export function withoutLibraries(cache: string, program: string): readonly string[] {
  return environmentsIn(cache).filter(
    (folder) => hasProgram(folder, program) && ["lib", "Lib"].every((lib) => !existsSync(join(folder, lib))),
  );
}

function environmentsIn(cache: string): readonly string[] {
  return namesIn(join(cache, ARCHIVES))
    .slice(0, MAX_LOOKED_AT)
    .map((name) => join(cache, ARCHIVES, name))
    .filter((folder) => existsSync(join(folder, "pyvenv.cfg")));
}

function hasProgram(folder: string, program: string): boolean {
  return ["bin", "Scripts"].some((bin) =>
    [program, `${program}.exe`].some((name) => existsSync(join(folder, bin, name))),
  );
}

/** Returns the distributions in an environment, or the one in an unpacked wheel. */
function distributionsIn(folder: string): readonly string[] {
  const pythons = namesIn(join(folder, "lib")).map((python) => join(folder, "lib", python, "site-packages"));
  return [folder, join(folder, "Lib", "site-packages"), ...pythons]
    .flatMap(namesIn)
    .flatMap((name) => /^([\w.]+)-[^-]+\.dist-info$/.exec(name)?.[1] ?? [])
    .map(normalised);
}

/** Returns the folders of wheel records: `wheels-v8/pypi`, and one for each other index. */
function wheelFolders(cache: string): readonly string[] {
  return namesIn(cache)
    .filter((name) => /^wheels-v\d+$/.test(name))
    .flatMap((name) => namesIn(join(cache, name)).map((kind) => join(cache, name, kind)))
    .flatMap((folder) => [folder, ...namesIn(folder).map((name) => join(folder, name))]);
}

/** Normalizes the name of a distribution: `mcp_server_time` becomes `mcp-server-time`. */
function normalised(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
