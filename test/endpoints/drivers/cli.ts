import { parseExact, stringifyExact } from "../../../packages/toolyard/src/core/json/exact-json.ts";
import { Writable } from "node:stream";
import { createProgram } from "../../../packages/toolyard/src/cli/program.ts";
import type { Io } from "../../../packages/toolyard/src/cli/output/io.ts";
import { KINDS } from "../../../packages/toolyard/src/core/calls/kinds.ts";
import type { JsonObject } from "../../../packages/toolyard/src/core/json/json.ts";
import { toolValue } from "../../../packages/toolyard/src/core/calls/tool-value.ts";
import type { OpenSurface, Surface } from "../surface.ts";

/** Runs `toolyard call` in this process; each run opens its own hub. */
function commandLine(flags: readonly string[], env: Io["env"]): Surface {
  return {
    call: async (tool, args, signal = new AbortController().signal) => {
      let stdout = "";
      let exit = -1;
      const sink = (take: (text: string) => void): Writable =>
        new Writable({ write: (chunk, _encoding, done) => (take(String(chunk)), done()) });
      const io: Io = {
        stdout: sink((text) => (stdout += text)),
        stderr: sink(() => {}),
        env,
        cwd: env["HOME"]!,
        color: false,
        interrupted: signal,
        readStdin: () => Promise.resolve(""),
      };
      const program = await createProgram(io, "0", { json: true, finish: (code) => (exit = code) });
      await program.parseAsync(["call", ...flags, "--json", tool, stringifyExact(args)], { from: "user" });
      return exit === 0 ? { value: toolValue(parseExact(stdout) as JsonObject) } : { failure: { exit } };
    },
    told: (kind) => ({ exit: KINDS[kind].exit }),
    close: () => Promise.resolve(),
  };
}

export const cliHere: OpenSurface = async ({ config, variables }) => commandLine(["--config", config], variables);

export const cliThere: OpenSurface = async ({ url, variables }, token) =>
  commandLine(["--url", `${url}/mcp`, "--token-env", "CALLER_TOKEN"], { ...variables, CALLER_TOKEN: token });
