import { join } from "node:path";
import { flagNames, splitFlags, valuesOf, wordsOf, without, type FlagRules } from "./flags.ts";
import { commandOf, homeFolder, unknownPlan, type RunnerEnvironment, type Runner } from "./runner.ts";
import { uvLeftovers, withoutLibraries } from "./uv-cache.ts";

const RULES: FlagRules = {
  switches: flagNames(
    "--isolated --quiet -q --verbose -v --refresh --no-progress --native-tls --no-config " +
      "--managed-python --no-managed-python --no-python-downloads --upgrade -U --reinstall --no-index " +
      "--no-build --no-binary --compile-bytecode --no-env-file --no-sources --no-build-isolation " +
      "--system-certs",
  ),
  values: flagNames(
    "--from --with -w --with-editable --with-requirements --python -p --index --index-url -i " +
      "--extra-index-url --default-index --find-links -f --cache-dir --config-file --directory " +
      "--project --refresh-package --upgrade-package -P --reinstall-package --constraints -c " +
      "--overrides --build-constraints -b --env-file --resolution --prerelease --exclude-newer " +
      "--link-mode --index-strategy --keyring-provider -C --config-setting --no-build-package " +
      "--no-binary-package --python-platform --color --allow-insecure-host --fork-strategy " +
      "--torch-backend",
  ),
};

const MISSING = new RegExp(
  "network was disabled|connectivity is disabled|(?:not|n't) found in the cache|" +
    "because --offline|offline mode|needs? to be downloaded",
  "i",
);

/** Time after which uv queries its index again: ten minutes. */
const FRESH_MS = 10 * 60 * 1000;

/**
 * Plan for uv. `uvx` has no command that only downloads, so the plan runs the Python of the same environment, which
 * downloads the packages. With `--offline`, a start downloads nothing.
 */
export const UVX: Runner = ({ name, head, words }, place) => {
  const split = splitFlags(words, RULES);
  const [given] = split?.rest ?? [];
  const flags = split?.flags ?? [];
  const cache = uvCache(place, valuesOf(flags, "--cache-dir"));
  const folders = [cache, join(cache, "archive-v0"), join(cache, "builds-v0"), join(cache, "wheels-v5")];
  if (!split || given === undefined) return unknownPlan(name, folders);
  const [from = given] = valuesOf(flags, "--from");
  const isPython = /^python[\d.]*$/.test(from);
  const source = isPython ? [] : ["--from", from];
  return {
    package: `${name} ${from}`,
    folders,
    locks: [],
    start: commandOf(head, "--offline", ...words),
    install: commandOf(head, ...wordsOf(without(flags, "--from")), ...source, isPython ? from : "python", "-c", ""),
    missing: MISSING,
    freshMs: FRESH_MS,
    broken: {
      says: /ModuleNotFound|ImportError|No such file|ailed to (?:read|deseriali|open|spawn|install)|Querying Python/,
      parents: ["archive-v0", "environments-v2", "builds-v0"],
      also: (text, named) => uvLeftovers({ text, folders: named, cache, distribution: packageName(from) }),
      silent: () => withoutLibraries(cache, packageName(given)),
    },
  };
};

/** Returns the package name of a requirement: `mcp-server-time==1.0[extra]` gives `mcp-server-time`. */
function packageName(from: string): string {
  return /^[\w.-]+/.exec(from)?.[0] ?? from;
}

function uvCache(place: RunnerEnvironment, [named]: readonly string[]): string {
  const { env } = place;
  if (named !== undefined) return named;
  if (env["UV_CACHE_DIR"]) return env["UV_CACHE_DIR"];
  if (env["XDG_CACHE_HOME"]) return join(env["XDG_CACHE_HOME"], "uv");
  return homeFolder(place, join(".cache", "uv"), join("uv", "cache"));
}
