#!/usr/bin/env node
import { enableCodeCache } from "./code-cache.ts";

// Before the rest of the command is loaded, since only code that is loaded later comes from the cache.
enableCodeCache(process.env);
const { runCommand } = await import("./run-command.ts");
// Every resource was closed by its owner; a handle that is still open must not keep the caller waiting.
process.exit(await runCommand());
