#!/usr/bin/env node
import { VERSION } from "../core/version.ts";
import { enableCodeCache } from "./code-cache.ts";

const [first] = process.argv.slice(2);
if (first === "--version" || first === "-V") {
  // Programs often ask for the version, which needs no parsing of the command line.
  process.stdout.once("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  process.stdout.write(`${VERSION}\n`);
} else {
  // Before the rest of the command is loaded, since only code loaded later comes from the cache.
  enableCodeCache(process.env);
  const { runCommand } = await import("./run-command.ts");
  // Owners have closed all resources; a handle that is still open must not delay the caller.
  process.exit(await runCommand());
}
