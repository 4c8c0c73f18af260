// Builds the page of the console to dist/console/. `scripts/build.mjs` calls it.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Modules of the page that a view loaded later also uses. They are one file, because each file is a request. */
const BASE = new RegExp(
  "[\\\\/]node_modules[\\\\/](?:preact|@preact)[\\\\/]|" +
    "[\\\\/]console[\\\\/]src[\\\\/](?:api|live|route|theme)\\.ts$|" +
    "[\\\\/]i18n[\\\\/](?:en|texts)\\.ts$|" +
    "[\\\\/]ui[\\\\/](?:bounded|failure|hubs|late-view|parts|replayed|result|run-tool|schema-form|table|use-data)\\.tsx?$",
);
const isBase = (id) => BASE.test(id);

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Uses relative addresses, so that the page works below any base path.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("../dist/console", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    // The page's Content-Security-Policy forbids `data:` URLs for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "base", test: isBase }] } } },
    license: { fileName: "licenses.md" },
  },
  logLevel: "warn",
});
