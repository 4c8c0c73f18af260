// Runs before a script. Makes `import … from "toolyard/script"` work without an installation, and makes imports from
// the libraries work. `require` finds both by NODE_PATH.
"use strict";
const { readdirSync, readFileSync, realpathSync, statSync } = require("node:fs");
const module_ = require("node:module");
const { dirname, extname, join } = require("node:path");
const { pathToFileURL } = require("node:url");

const { hasLibraries, libraryUrl } = require("./libraries.cjs");

const NAME = "toolyard/script";
const url = pathToFileURL(join(__dirname, "toolyard", "script", "index.mjs")).href;

// Newer Node versions run hooks in the same thread at no cost. Older versions need a thread for hooks, so the hooks are
// installed only if a script needs them.
if (module_.registerHooks) {
  module_.registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === NAME && context.conditions.includes("import")) return { url, shortCircuit: true };
      try {
        return next(specifier, context);
      } catch (error) {
        const library = libraryUrl(specifier);
        if (library === undefined) throw error;
        return next(library, context);
      }
    },
  });
} else if (hasLibraries || (process.argv[1] !== undefined && isMentioned(process.argv[1]))) {
  // Throws if the working folder was removed, because Node 20 would then wait forever for the thread of the hooks.
  realpathSync.native(".");
  module_.register(pathToFileURL(join(__dirname, "resolve.mjs")).href, { data: { url } });
}

/** Returns whether the script itself, or a file next to it, mentions the module `toolyard/script`. */
function isMentioned(script) {
  try {
    const main = realpathSync(script);
    const beside = readdirSync(dirname(main))
      .filter((name) => /^\.[cm]?[jt]s$/.test(extname(name)))
      .slice(0, 50);
    return [main, ...beside.map((name) => join(dirname(main), name))].some(mentions);
  } catch {
    return false;
  }
}

function mentions(file) {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && stats.isFile() && stats.size <= 1_000_000 && readFileSync(file, "utf8").includes(NAME);
}
