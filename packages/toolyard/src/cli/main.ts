#!/usr/bin/env node
import { beginStart } from "../core/start-optimisation.ts";
import { VERSION } from "../core/version.ts";
import { enableCodeCache } from "./code-cache.ts";

const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V") {
  // Programs often request the version, so it is printed without parsing the command line.
  process.stdout.once("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  process.stdout.write(`${VERSION}\n`);
} else {
  // Enabled before the rest of the program is loaded, because only modules loaded later use the cache.
  enableCodeCache(process.env);
  beginStart();
  const { runCommand } = await import("./run-command.ts");
  // All resources were closed by their owners. A handle that is still open must not delay the end of the process.
  process.exit(await runCommand());
}
