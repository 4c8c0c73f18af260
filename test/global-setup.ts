import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Builds before the tests: module hooks, children and the command line run from `dist/`, because Node itself loads
 * them. Only the output matters; another check covers types. `npm test` has already built.
 */
export default function setup(): void {
  const isBuilt = process.env["TEST_BUILD_IS_NEW"] === "yes";
  // Processes that tests start must not inherit the variable.
  delete process.env["TEST_BUILD_IS_NEW"];
  if (isBuilt) return;
  const script = fileURLToPath(new URL("../scripts/build.mjs", import.meta.url));
  const built = spawnSync(process.execPath, [script], { encoding: "utf8" });
  const output = fileURLToPath(new URL("../packages/toolyard/dist/runtimes/typescript/register.js", import.meta.url));
  if (!existsSync(output)) throw new Error(`The build gave no output:\n${built.stdout}${built.stderr}`);
}
