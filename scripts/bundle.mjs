// Joins the compiled modules into few files: Node takes up to a millisecond for each file that it loads, and the hub has hundreds.
// What is imported lazily stays in files of its own. Names and lines stay readable; types are the compiler's business.
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { rolldown } from "rolldown";

/** Files that somebody names from outside: the package's exports and command, Node (hooks, children), the generator of the reference. */
const ENTRIES = [
  "index",
  "cli/main",
  "runtimes/typescript/register",
  "runtimes/typescript/hooks",
  "runtimes/typescript/native-import",
  "cli/program",
  "config/json-schema",
  "core/kinds",
  "hub/schema",
];
const CHUNKS = "chunks";

/** No other module imports these, so they stay in their place; and the first wants its whole URL, query and all. */
const STAY = ["runtimes/typescript/register", "runtimes/typescript/native-import"];

/** Bundles `src` into `dist`. Chunks carry a hash, so a hub that is running goes on with those that it began with. */
export async function bundle({ src, dist }) {
  const build = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(src, `${name}.ts`)])),
    platform: "node",
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    transform: { target: "es2022" },
    plugins: [keepPlaces(src)],
  });
  try {
    await build.write({
      dir: dist,
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: `${CHUNKS}/[name]-[hash].js`,
      // What nearly every file needs would otherwise fall apart into a dozen chunks.
      codeSplitting: { groups: [{ name: "core", test: /[/\\]src[/\\]core[/\\](?!kinds\.ts)/ }] },
    });
  } finally {
    await build.close();
  }
}

/** A module that asks where it lies gets the answer that it would get outside a chunk. */
function keepPlaces(src) {
  const stay = STAY.map((name) => join(src, `${name}.ts`));
  const asking = new Set();
  return {
    name: "keep-places",
    transform(code, id) {
      if (stay.includes(id) || !code.includes("import.meta.url")) return null;
      asking.add(id);
      const place = relative(join(src, CHUNKS), join(dirname(id), `${basename(id, ".ts")}.js`)).replaceAll(sep, "/");
      return { code: code.replaceAll("import.meta.url", `new URL(${JSON.stringify(place)}, import.meta.url).href`), map: null };
    },
    generateBundle(_options, files) {
      for (const { type, fileName, modules } of Object.values(files)) {
        if (type !== "chunk" || fileName.split("/").length === 2) continue;
        const stray = Object.keys(modules).find((id) => asking.has(id));
        if (stray) this.error(`${stray} asks where it lies, and ${fileName} is at another depth than ${CHUNKS}/.`);
      }
    },
  };
}
