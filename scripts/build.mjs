// Compiles the packages. packages/toolyard: src/ to build/, from which few files in dist/ are bundled, and servers/ to
// dist/servers/. packages/library and packages/gnn: src/ to dist/. Makes the commands executable. Plain Node, so that
// it runs before anything is built.
import { chmodSync, cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { adminSchemas } from "./admin-schemas.mjs";
import { bundle } from "./bundle.mjs";
import { compressAssets } from "./compress-assets.mjs";
import { publishDeclarations } from "./declarations.mjs";

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages");
const root = join(packages, "toolyard");
const SERVERS = ["gnn", "library"].map((name) => join(packages, name));
const compiled = join(root, "build");
const TABLE = join("models", "table", "token-vectors.bin");
if (process.argv.includes("--clean")) {
  for (const folder of [compiled, ...[root, ...SERVERS].map((one) => join(one, "dist"))])
    rmSync(folder, { recursive: true, force: true });
}
// Shows progress on a terminal and for `npm start`, since a build takes from seconds to a minute.
const shows = process.stderr.isTTY || process.env["npm_lifecycle_event"] === "start";
let stepsDone = 0;
const progress = (what) => {
  stepsDone += 1;
  if (shows) process.stderr.write(`Building ${stepsDone}/${PROJECTS.length + 3}: ${what} …\n`);
};
// Files that are copied unchanged. Children run them: Python, and JavaScript that is not compiled. The declarations of
// the entries `gnn` and `library` name other packages, which are compiled later.
const AS_THEY_ARE = [
  "runtimes/execute",
  "runtimes/calling",
  "runtimes/warm",
  "sandbox/python/prelude",
  "sandbox/bwrap-python",
  "extras/locks",
  "gnn.d.mts",
  "library.d.mts",
];
for (const folder of [compiled, join(root, "dist")].flatMap((to) => AS_THEY_ARE.map((path) => ({ to, path })))) {
  cpSync(join(root, "src", folder.path), join(folder.to, folder.path), {
    recursive: true,
    filter: (path) =>
      !path.includes("__pycache__") && (!/\.[a-z]+$/.test(path) || /\.(?:py|[cm]js|json|d\.mts)$/.test(path)),
  });
}
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
// Options for writing the executed code. Comments are removed, because the declarations contain them. Types are not
// checked, because that happens when the declarations are written.
const TO_RUN = ["--emitDeclarationOnly", "false", "--declaration", "false", "--declarationDir", "null"].concat([
  "--removeComments",
  "--noCheck",
  "--incremental",
  "false",
  "--tsBuildInfoFile",
  "null",
]);
// Servers import the hub by its package name, so they are compiled after its declarations.
const PROJECTS = [
  { name: "the hub", folder: root, config: "tsconfig.build.json", to: compiled },
  { name: "small servers", folder: root, config: "tsconfig.servers.json", to: join(root, "dist", "servers") },
  ...SERVERS.map((folder) => ({
    name: `packages/${basename(folder)}`,
    folder,
    config: "tsconfig.build.json",
    to: join(folder, "dist"),
  })),
];
const statuses = PROJECTS.flatMap(({ folder, config, to, name }) => {
  progress(name);
  const emitted = [[], [...TO_RUN, "--outDir", to]].map(
    (options) =>
      spawnSync(process.execPath, [tsc, "-p", join(folder, config), ...options], { stdio: "inherit" }).status ?? 1,
  );
  if (to === compiled && emitted.every((status) => status === 0)) emitted.push(declareSettings());
  publishDeclarations(folder);
  return emitted;
});
/** Writes the type of the settings from the compiled schema. */
function declareSettings() {
  const script = join(packages, "..", "scripts", "settings-types.mjs");
  const args = [script, compiled, join(root, "dist", ".declarations")];
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
}
const failed = statuses.find((status) => status !== 0);
if (failed !== undefined) process.exit(failed);
progress("bundles");
for (const folder of ["build", "dist"]) cpSync(join(root, "src", TABLE), join(root, folder, TABLE));
await bundle(root, compiled);
const FONT = join("pictures", "font");
cpSync(join(packages, "gnn", "src", FONT), join(packages, "gnn", "dist", FONT), { recursive: true });
for (const data of [join("search", "translations"), join("documents", "cmaps")])
  cpSync(join(packages, "library", "src", data), join(packages, "library", "dist", data), { recursive: true });
progress("the console");
// Vite runs in its own process, because it changes to another folder.
const vite = join(dirname(require.resolve("vite/package.json")), "bin", "vite.js");
const page = join(root, "console", "vite.config.mjs");
const built = spawnSync(process.execPath, [vite, "build", "--config", page], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
compressAssets(join(root, "dist", "console", "assets"));
adminSchemas(root, join(root, "dist", "console", "admin-schemas.json"));
progress("lists of services");
// A hub knows the tools of a service before it runs, from these lists.
const lists = spawnSync(process.execPath, [join(packages, "..", "scripts", "service-lists.mjs")], { stdio: "inherit" });
if (lists.status !== 0) process.exit(lists.status ?? 1);
for (const folder of [root, ...SERVERS]) {
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const path of Object.values(bin)) if (existsSync(join(folder, path))) chmodSync(join(folder, path), 0o755);
}
