#!/usr/bin/env node
import { CommanderError } from "commander";
import { VERSION } from "../core/version.ts";
import { EXIT } from "./failure.ts";
import { processIo } from "./io.ts";
import { createProgram } from "./program.ts";

// A reader that went away (`toolyard list | head`) ends the program quietly.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  throw error;
});

let code: number = EXIT.ok;
const program = createProgram(processIo(), VERSION, (result) => {
  code = result;
});
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Help and version are answers; everything else commander refuses is a usage error.
  code = error.exitCode === 0 || error.code === "commander.help" ? EXIT.ok : EXIT.usage;
}
// Everything was closed by its owner; what would still keep the process alive must not keep the caller waiting.
process.exit(code);
