// Compiles src/ to dist/ and makes the command executable. Plain Node, so that it runs before anything is built.
import { chmodSync, cpSync, existsSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (process.argv.includes("--clean")) rmSync(join(root, "dist"), { recursive: true, force: true });
// What children run as it is: Python, and JavaScript that no compiler touches.
cpSync(join(root, "src", "runtimes", "execute"), join(root, "dist", "runtimes", "execute"), {
  recursive: true,
  filter: (path) => !/\.[a-z]+$/.test(path) || /\.(?:py|mjs)$/.test(path),
});
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
const built = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
const main = join(root, "dist", "cli", "main.js");
if (existsSync(main)) chmodSync(main, 0o755);
