// `npm run soak [-- --cases 100000 --minutes 4 --streams 1000 --stream-minutes 10 --kills 1000 --seed 1]`: broken
// requests by the hundred thousand, minutes of mixed calls, a thousand open streams and a thousand kills, against the
// built program, on loopback only. The last figures are in test/RESULTS.md.
// `npm run soak -- --console [--minutes 60 --rate 100]`: an open console in Chromium with steady calls.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const run = (args) => spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;

const isConsole = process.argv.includes("--console");
const rest = process.argv.slice(2).filter((argument) => argument !== "--console");
const built = run([join(root, "scripts/build.mjs")]);
const register = pathToFileURL(join(root, "packages/toolyard/dist/runtimes/typescript/register.js")).href;
const program = isConsole
  ? [join(root, "scripts/soak-console.mjs")]
  : ["--import", register, join(root, "test/fuzz/soak.ts")];
process.exit(built || run([...program, ...rest]));
