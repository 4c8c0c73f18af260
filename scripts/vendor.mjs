// Bundles `sucrase` into one file that children, threads and module hooks load by path. The package brings a command
// line, two copies of its code and 16 further packages, which an installation does not need.
import { join } from "node:path";
import { rolldown } from "rolldown";

const ENTRY = "\0sucrase";
/** Code that exports the ES modules of the package, so that the file has one copy of the parser. */
const CODE = `
export { transform, getFormattedTokens } from "sucrase";
export { parse } from "sucrase/dist/esm/parser/index.js";
export { formatTokenType } from "sucrase/dist/esm/parser/tokenizer/types.js";
`;

/** Returns the path in dist/, the code, and the modules of the bundle, for NOTICE. */
export async function vendored(root) {
  const build = await rolldown({
    cwd: root,
    input: ENTRY,
    platform: "node",
    resolve: { mainFields: ["module", "main"] },
    plugins: [
      {
        name: "entry",
        resolveId: (id, importer) => {
          if (id === ENTRY) return id;
          return importer === ENTRY ? join(root, "../../node_modules", MODULES[id] ?? id) : undefined;
        },
        load: (id) => (id === ENTRY ? CODE : undefined),
      },
    ],
  });
  const { output } = await build.generate({
    format: "cjs",
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await build.close();
  return { path: "vendor/sucrase.cjs", code: output[0].code, output };
}

const MODULES = { sucrase: "sucrase/dist/esm/index.js" };
