#!/usr/bin/env node
import { VERSION } from "../core/version.ts";
import { enableCodeCache } from "./code-cache.ts";

const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V") {
  // Programs ask for the version often, and it needs nothing of the command line.
  process.stdout.once("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  process.stdout.write(`${VERSION}\n`);
} else {
  // Before the rest of the command is loaded, since only code that is loaded later comes from the cache.
  enableCodeCache(process.env);
  const { runCommand } = await import("./run-command.ts");
  // Every resource was closed by its owner; a handle that is still open must not keep the caller waiting.
  process.exit(await runCommand());
}
