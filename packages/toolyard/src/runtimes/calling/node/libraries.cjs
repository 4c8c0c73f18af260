// Libraries from which scripts import in addition to their own folder. `require` finds them by NODE_PATH, which
// `import` does not read.
"use strict";
const { statSync } = require("node:fs");
const { delimiter, join } = require("node:path");
const { pathToFileURL } = require("node:url");

const FOLDERS = (process.env.TOOLYARD_LIBRARIES ?? "").split(delimiter).filter(Boolean);
const ENDINGS = ["", ".mjs", ".js", ".cjs", ".json", "/index.mjs", "/index.js", "/index.cjs"];

const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Returns the URL of the library file for a bare name such as `helpers/text`; `undefined` if there is none. */
function libraryUrl(specifier) {
  if (/^(?:[./#]|[a-z]+:)/.test(specifier)) return undefined;
  for (const folder of FOLDERS) {
    for (const ending of ENDINGS) {
      const path = join(folder, specifier + ending);
      if (isFile(path)) return pathToFileURL(path).href;
    }
  }
  return undefined;
}

module.exports = { hasLibraries: FOLDERS.length > 0, libraryUrl };
