import { join } from "node:path";
import { flagNames, splitFlags, valuesOf, wordsOf, without, type FlagRules } from "./flags.ts";
import { commandOf, DAY_MS, homeFolder, SCRATCH, unknownPlan, type Runner } from "./runner.ts";

const BUN_RULES: FlagRules = { switches: ["--bun", "--silent", "--verbose", "-y"], values: ["-p", "--package"] };

/** What `bun add` brought to its cache, `bunx` takes from there. */
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
    needsScratch: true,
    freshMs: DAY_MS,
  };
};

const PIPX_RULES: FlagRules = {
  switches: ["--pypackages", "--verbose", "-v", "--quiet", "-q", "--fetch-missing-python"],
  values: ["--spec", "--python", "--index-url", "-i", "--pip-args", "--with", "--backend", "--fetch-python"],
};

/** The Python of an environment is a program of it, so running that makes the environment and no more. */
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

/** Runs Node in an environment that has the package. */
function dlxRunner(cacheOf: (home: (folder: string) => string) => string): Runner {
  return ({ name, head, words }, place) => {
    const folders = [cacheOf((folder) => homeFolder(place, folder, folder))];
    const split = splitFlags(words, DLX_RULES);
    const [first] = split?.rest ?? [];
    const named = valuesOf(split?.flags ?? [], "-p", "--package");
    const packages = named.length > 0 ? named : first === undefined ? [] : [first];
    if (!split || packages.length === 0 || packages.some((one) => /^[./~\\]/.test(one)))
      return unknownPlan(name, folders);
    const flags = wordsOf(without(split.flags, "-p", "--package"));
    const wanted = packages.map((one) => `--package=${one}`);
    return {
      package: `${name} ${packages.join(" ")}`,
      folders,
      locks: [],
      install: commandOf(head, ...flags, ...wanted, "node", "-e", "0"),
      freshMs: DAY_MS,
    };
  };
}

export const PNPM = dlxRunner((home) => home(join(".cache", "pnpm")));
export const YARN = dlxRunner((home) => home(join(".yarn", "berry")));

/** All that take no value; every other one does. */
const DOCKER_RULES: FlagRules = {
  switches: flagNames(
    "-d --detach --disable-content-trust --help --init -i --interactive --no-healthcheck " +
      "--oom-kill-disable --privileged -P --publish-all -q --quiet --read-only --rm --sig-proxy -t " +
      "--tty --use-api-socket",
  ),
  values: ["-e", "-v", "-p", "-u", "-w", "-m", "-l", "-h", "-a", "-c"],
  othersTakeValues: true,
};

/** `docker run --pull=never` says what image is missing; `docker pull` brings it. */
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
