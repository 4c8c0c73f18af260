import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What a start of `uvx` found broken. */
export interface UvFinding {
  /** What it wrote. */
  readonly text: string;
  /** Folders that it named. */
  readonly folders: readonly string[];
  readonly cache: string;
  /** Whose environment it is. */
  readonly distribution: string;
}

const ARCHIVES = "archive-v0";
/** Environments are looked through for one that lacks a program, or its libraries. */
const MAX_LOOKED_AT = 1000;

/**
 * What else has to go, since uv would make the same again of it: an environment is linked together from unpacked
 * wheels, and which wheel is where unpacked, stands below `wheels-v…`. `uv cache clean` removes that too, but waits for
 * every server that runs under `uvx`.
 */
export function uvLeftovers({ text, folders, cache, distribution }: UvFinding): readonly string[] {
  const environments = [...folders, ...withoutProgram(text, cache, distribution)];
  const names = new Set(environments.flatMap(distributionsIn));
  for (const [, name] of text.matchAll(/Failed to install: \S+ \(([\w.-]+)==/g)) names.add(normalised(name!));
  const pointers = wheelFolders(cache).flatMap((folder) => Array.from(names, (name) => join(folder, name)));
  return [...environments.slice(folders.length), ...pointers.filter((path) => existsSync(path))];
}

/** uv found the environment and not the program in it; it does not say which environment that is. */
function withoutProgram(text: string, cache: string, distribution: string): readonly string[] {
  const [, program] = /Failed to spawn: `?([\w.-]+)`?/i.exec(text) ?? [];
  if (program === undefined) return [];
  return environmentsIn(cache)
    .filter((folder) => !hasProgram(folder, program))
    .filter((folder) => distributionsIn(folder).includes(normalised(distribution)));
}

/** Environments that have a program and no libraries: uv ends with them without a word. */
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

/** Distributions of an environment, or the one that an unpacked wheel is. */
function distributionsIn(folder: string): readonly string[] {
  const pythons = namesIn(join(folder, "lib")).map((python) => join(folder, "lib", python, "site-packages"));
  return [folder, join(folder, "Lib", "site-packages"), ...pythons]
    .flatMap(namesIn)
    .flatMap((name) => /^([\w.]+)-[^-]+\.dist-info$/.exec(name)?.[1] ?? [])
    .map(normalised);
}

/** `wheels-v8/pypi`, and one for each other index. */
function wheelFolders(cache: string): readonly string[] {
  return namesIn(cache)
    .filter((name) => /^wheels-v\d+$/.test(name))
    .flatMap((name) => namesIn(join(cache, name)).map((kind) => join(cache, name, kind)))
    .flatMap((folder) => [folder, ...namesIn(folder).map((name) => join(folder, name))]);
}

/** As its folder is called: `mcp_server_time` is `mcp-server-time`. */
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
