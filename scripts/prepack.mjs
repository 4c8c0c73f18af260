// `npm pack` in a package: builds all of them anew, and copies into the package what it ships of the repository's root.
import { cpSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const SHIPPED = { toolyard: ["LICENSE", "CHANGELOG.md", "docs"], library: ["LICENSE"], gnn: ["LICENSE"] };
const built = spawnSync(process.execPath, [join(root, "scripts/build.mjs"), "--clean"], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
for (const name of SHIPPED[basename(process.cwd())] ?? []) {
  rmSync(join(process.cwd(), name), { recursive: true, force: true });
  cpSync(join(root, name), join(process.cwd(), name), { recursive: true });
}
