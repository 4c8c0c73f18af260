import { join } from "node:path";
import { flagNames, splitFlags, valuesOf, wordsOf, without, type FlagRules } from "./flags.ts";
import { commandOf, DAY_MS, homeFolder, SCRATCH, unknownPlan, type CommandWords, type Runner } from "./runner.ts";

const BUN_RULES: FlagRules = { switches: ["--bun", "--silent", "--verbose", "-y"], values: ["-p", "--package"] };

/** Plan for `bunx`, which uses packages that `bun add` has put into its cache. */
export const BUN: Runner = ({ name, head, words }, place) => {
  const split = splitFlags(words, BUN_RULES);
  const [first] = split?.rest ?? [];
  const [from = first] = valuesOf(split?.flags ?? [], "-p", "--package");
  const cache =
    place.env["BUN_INSTALL_CACHE_DIR"] ?? homeFolder(place, join(".bun", "install", "cache"), ".bun/install/cache");
  if (from === undefined || /^[./~\\]/.test(from)) return unknownPlan(name, [cache]);
  const bun = head[0]!.replace(/bunx(?=(?:\.(?:exe|cmd))?$)/i, "bun");
  return {
    package: `${name} ${from}`,
    folders: [cache],
    locks: [],
    install: commandOf([bun], "add", "--cwd", SCRATCH, from),
    scratchFiles: { "package.json": "{}" },
    freshMs: DAY_MS,
  };
};

const PIPX_RULES: FlagRules = {
  switches: ["--pypackages", "--verbose", "-v", "--quiet", "-q", "--fetch-missing-python"],
  values: ["--spec", "--python", "--index-url", "-i", "--pip-args", "--with", "--backend", "--fetch-python"],
};

/**
 * Plan for pipx. The Python of an environment is one of its programs, so running it creates the environment and does
 * nothing else.
 */
export const PIPX: Runner = ({ name, head, words }, place) => {
  const split = splitFlags(words, PIPX_RULES);
  const [app] = split?.rest ?? [];
  const home = place.env["PIPX_HOME"] ?? homeFolder(place, join(".local", "share", "pipx"), "pipx");
  const cache = join(home, ".cache");
  if (!split || app === undefined || /[\\/]/.test(app)) return unknownPlan(name, [cache, home]);
  const [spec = app] = valuesOf(split.flags, "--spec");
  const flags = wordsOf(without(split.flags, "--spec"));
  return {
    package: `${name} ${spec}`,
    folders: [cache, home],
    locks: [],
    install: commandOf(head, ...flags, "--spec", spec, "python", "-c", ""),
    freshMs: DAY_MS,
  };
};

const DLX_RULES: FlagRules = {
  switches: ["--silent", "-s", "-q", "--quiet", "-y", "--yes"],
  values: ["--package", "-p", "--allow-build", "--reporter"],
};

interface DlxRules {
  readonly cacheOf: (home: (folder: string) => string) => string;
  /** Returns the command that only downloads these packages. */
  readonly download: (head: readonly string[], flags: readonly string[], packages: readonly string[]) => CommandWords;
  readonly scratchFiles?: Readonly<Record<string, string>>;
}

function dlxRunner({ cacheOf, download, scratchFiles }: DlxRules): Runner {
  return ({ name, head, words }, place) => {
    const folders = [cacheOf((folder) => homeFolder(place, folder, folder))];
    const split = splitFlags(words, DLX_RULES);
    const [first] = split?.rest ?? [];
    const named = valuesOf(split?.flags ?? [], "-p", "--package");
    const packages = named.length > 0 ? named : first === undefined ? [] : [first];
    if (!split || packages.length === 0 || packages.some((one) => /^[./~\\]/.test(one)))
      return unknownPlan(name, folders);
    return {
      package: `${name} ${packages.join(" ")}`,
      folders,
      locks: [],
      install: download(head, wordsOf(without(split.flags, "-p", "--package")), packages),
      ...(scratchFiles && { scratchFiles }),
      freshMs: DAY_MS,
    };
  };
}

/** Plan for `pnpm dlx`: downloads by running Node in an environment with the packages. */
export const PNPM = dlxRunner({
  cacheOf: (home) => home(join(".cache", "pnpm")),
  download: (head, flags, packages) =>
    commandOf(head, ...flags, ...packages.map((one) => `--package=${one}`), "node", "-e", "0"),
});

/**
 * Plan for `yarn dlx`, which runs only programs of the packages. It uses packages that `yarn add` has put into its
 * cache.
 */
export const YARN = dlxRunner({
  cacheOf: (home) => home(join(".yarn", "berry")),
  download: ([yarn = ""], _flags, packages) =>
    commandOf([yarn], "--cwd", SCRATCH, "add", "--mode=skip-build", ...packages),
  // The lock file makes the folder the root of a project, independent of the folders above it.
  scratchFiles: { "package.json": "{}", "yarn.lock": "" },
});

/** Lists all flags without a value; every other flag takes one. */
const DOCKER_RULES: FlagRules = {
  switches: flagNames(
    "-d --detach --disable-content-trust --help --init -i --interactive --no-healthcheck " +
      "--oom-kill-disable --privileged -P --publish-all -q --quiet --read-only --rm --sig-proxy -t " +
      "--tty --use-api-socket",
  ),
  values: ["-e", "-v", "-p", "-u", "-w", "-m", "-l", "-h", "-a", "-c"],
  othersTakeValues: true,
};

/** Plan for Docker: `docker run --pull=never` reports a missing image, and `docker pull` downloads it. */
export const DOCKER: Runner = ({ name, head, words }) => {
  const split = splitFlags(words, DOCKER_RULES);
  const [image] = split?.rest ?? [];
  const [pull = "missing"] = valuesOf(split?.flags ?? [], "--pull");
  if (!split || image === undefined || pull === "never") return unknownPlan(name, []);
  const flags = wordsOf(without(split.flags, "--pull"));
  const platform = valuesOf(split.flags, "--platform").flatMap((value) => ["--platform", value]);
  return {
    package: `${name} ${image}`,
    folders: [],
    locks: [],
    start: commandOf(head, "--pull=never", ...flags, ...split.rest),
    install: commandOf(head.slice(0, 1), "pull", ...platform, image),
    missing: /No such image|Unable to find image|image not known|not present locally/i,
    ...(pull === "always" && { freshMs: 0 }),
  };
};
