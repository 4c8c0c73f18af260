import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { flagNames, splitFlags, valuesOf, wordsOf, without, type Flag, type FlagRules } from "./flags.ts";
import {
  commandOf,
  DAY_MS,
  homeFolder,
  unknownPlan,
  type InstallPlan,
  type RunnerEnvironment,
  type Runner,
} from "./runner.ts";

const RULES: FlagRules = {
  switches: flagNames(
    "-y --yes -q --quiet --silent -s -d -dd -ddd --verbose --force -f --no-audit --no-fund " +
      "--no-update-notifier --ignore-scripts --legacy-peer-deps --prefer-offline --prefer-online " +
      "--no-progress --no-color --foreground-scripts --offline",
  ),
  values: flagNames(
    "-p --package --cache --userconfig --globalconfig --registry --prefix --loglevel -w --workspace " +
      "--script-shell --shell --fetch-timeout --fetch-retries --cafile --proxy --https-proxy --noproxy " +
      "--allow-scripts --node-options --tag --before",
  ),
};
const PACKAGE = ["-p", "--package"];
const YES = ["-y", "--yes"];

/**
 * Plans for `npx` and `npm exec`. With `--no`, they refuse to run a missing package. The command is started before any
 * download, because only npm can resolve a name: to a program of the working folder, a global program, or a package.
 * With `--prefer-offline`, npm starts a cached package without asking the registry, so a server starts offline. A newer
 * version is looked for once a day.
 */
function npmRunner(rules: FlagRules): Runner {
  return ({ name, head, words }, place) => {
    const cache = npmCache(place, []);
    const split = splitFlags(words, rules);
    const named = split && valuesOf(split.flags, ...PACKAGE);
    const packages = split && named && (named.length > 0 ? named : split.rest.slice(0, 1));
    if (!split || !packages?.length || split.rest.length === 0 || !packages.every(isFromRegistry))
      return unknownPlan(name, [join(cache, "_npx")]);
    const flags = without(split.flags, ...YES);
    const places = placesOf(packages, npmCache(place, flags));
    const isOnline = split.flags.some(({ name: flag }) => NETWORK_FLAGS.has(flag));
    return {
      ...places,
      ...freshness(packages, split.flags),
      isCached: () => existsSync(places.folders[1]!),
      package: `${name} ${packages.join(" ")}`,
      start: commandOf(head, ...(isOnline ? [] : ["--prefer-offline"]), "--no", ...wordsOf(flags), "--", ...split.rest),
      install: commandOf(
        head,
        "--yes",
        ...wordsOf(without(flags, ...PACKAGE)),
        ...packages.map((one) => `--package=${one}`),
        "-c",
        "exit 0",
      ),
      missing: /npm (?:ERR!|error) (?:(?:npx )?cancell?ed|code ENOTCACHED)/i,
      refused:
        /npm (?:ERR!|error) code (?:E404|E401|E403|ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ERR_SOCKET|ENOSPC|EACCES|\w*CERT|CERT_|UNABLE_TO_)/,
      broken: {
        says: /MODULE_NOT_FOUND|Cannot find (?:module|package)|ENOTEMPTY|ECOMPROMISED/,
        parents: ["_npx"],
      },
    };
  };
}

export const NPX = npmRunner(RULES);
/** Plan for `npm exec`. Its flag `-p` has another meaning than that of `npx`. */
export const NPM_EXEC = npmRunner({ ...RULES, values: RULES.values.filter((value) => value !== "-p") });

/**
 * Returns how long a download counts as fresh. With `--prefer-online`, every start asks the registry. For one exact
 * version, no newer one is looked for.
 */
function freshness(packages: readonly string[], flags: readonly Flag[]): Pick<InstallPlan, "freshMs"> {
  if (flags.some(({ name }) => name === "--prefer-online")) return {};
  return { freshMs: packages.every(isPinned) ? Infinity : DAY_MS };
}

/** With these flags, the user has already decided whether npm asks the registry. */
const NETWORK_FLAGS: ReadonlySet<string> = new Set(["--prefer-online", "--prefer-offline", "--offline"]);

/** Returns whether the package is given with one exact version, so that there can be no newer one. */
function isPinned(spec: string): boolean {
  const at = spec.lastIndexOf("@");
  return at > 0 && /^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/.test(spec.slice(at + 1));
}

/** Returns whether the package comes from the registry, and not from a folder, file or address of the user. */
function isFromRegistry(spec: string): boolean {
  return !/^(?:[./~\\]|[a-z]:[\\/]|file:)/i.test(spec);
}

function npmCache(place: RunnerEnvironment, flags: readonly Flag[]): string {
  const { env } = place;
  const [named] = valuesOf(flags, "--cache");
  return named ?? env["npm_config_cache"] ?? env["NPM_CONFIG_CACHE"] ?? homeFolder(place, ".npm", "npm-cache");
}

function placesOf(packages: readonly string[], cache: string): Pick<InstallPlan, "folders" | "locks"> {
  const own = join(cache, "_npx", npxFolder(packages));
  return {
    folders: [own, join(own, "node_modules"), join(cache, "_cacache", "tmp")],
    locks: [join(own, "concurrency.lock")],
  };
}

/** Returns the name of the folder in which npx stores these packages. */
export function npxFolder(packages: readonly string[]): string {
  const text = packages.toSorted((a, b) => a.localeCompare(b, "en")).join("\n");
  return createHash("sha512").update(text).digest("hex").slice(0, 16);
}
