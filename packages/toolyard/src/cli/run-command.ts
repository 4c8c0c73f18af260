import { CommanderError } from "commander";
import { VERSION } from "../core/version.ts";
import { EXIT, reportUsage } from "./failure.ts";
import { watchInterrupts } from "./input/interrupts.ts";
import { flush, processIo } from "./output/io.ts";
import { createProgram, wantsJson } from "./program.ts";

/** Runs the command line of this process. Resolves with its exit code once standard output is written. */
export async function runCommand(): Promise<number> {
  endQuietlyWithoutReader();
  const io = processIo(watchInterrupts());
  const words = process.argv.slice(2);
  let code: number = EXIT.ok;
  const program = await createProgram(io, VERSION, {
    words,
    json: wantsJson(words),
    finish: (result) => (code = result),
  });
  try {
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version are successful results; other errors of commander are usage errors.
    if (error.exitCode !== 0)
      code = wantsJson(words) ? await reportUsage(error.message.replace(/^error: /, ""), true, io) : EXIT.usage;
  }
  await flush(process.stdout);
  return code;
}

/** Ends the program without an error if a reader disconnects (`toolyard list | head`). */
function endQuietlyWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(EXIT.ok);
      throw error;
    });
  }
}
