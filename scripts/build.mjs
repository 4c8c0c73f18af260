// Compiles src/ to build/, of which few files in dist/ are made, and servers/ to dist/servers/, and makes the command
// executable. Plain Node, so that it runs before anything is built.
import { chmodSync, cpSync, existsSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";
import { publishDeclarations } from "./declarations.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiled = join(root, "build");
const TABLE = join("models", "table", "token-vectors.bin");
if (process.argv.includes("--clean"))
  for (const folder of [compiled, join(root, "dist")]) rmSync(folder, { recursive: true, force: true });
// It takes seconds, and `npm start` begins with it.
if (process.stderr.isTTY) process.stderr.write("Building dist/ …\n");
// What children run as it is: Python, and JavaScript that no compiler touches.
const AS_THEY_ARE = [
  "runtimes/execute",
  "runtimes/calling",
  "runtimes/warm",
  "sandbox/python/prelude",
  "sandbox/bwrap-python",
  "extras/locks",
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
// What runs is written without its comments, which the repository keeps and declarations show; declarations are checked
// on the way, so that what runs need not be.
const TO_RUN = ["--emitDeclarationOnly", "false", "--declaration", "false", "--declarationDir", "null"].concat([
  "--removeComments",
  "--noCheck",
  "--incremental",
  "false",
  "--tsBuildInfoFile",
  "null",
]);
// The servers know the package by its name, so they come after its declarations.
const PROJECTS = { "tsconfig.build.json": compiled, "tsconfig.servers.json": join(root, "dist", "servers") };
const statuses = Object.entries(PROJECTS).flatMap(([project, outDir]) => {
  const emitted = [[], [...TO_RUN, "--outDir", outDir]].map(
    (options) =>
      spawnSync(process.execPath, [tsc, "-p", join(root, project), ...options], { stdio: "inherit" }).status ?? 1,
  );
  publishDeclarations(root);
  return emitted;
});
const failed = statuses.find((status) => status !== 0);
if (failed !== undefined) process.exit(failed);
for (const folder of ["build", "dist"]) cpSync(join(root, "src", TABLE), join(root, folder, TABLE));
await bundle(root, compiled);
cpSync(join(root, "servers/gnn/pictures/font"), join(root, "dist/servers/gnn/pictures/font"), { recursive: true });
// What a hub knows of the services before they run is what they list.
const lists = spawnSync(process.execPath, [join(root, "scripts", "service-lists.mjs")], { stdio: "inherit" });
if (lists.status !== 0) process.exit(lists.status ?? 1);
const main = join(root, "dist", "cli", "main.js");
if (existsSync(main)) chmodSync(main, 0o755);
