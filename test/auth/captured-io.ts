import { Writable } from "node:stream";
import type { Io } from "../../packages/toolyard/src/cli/output/io.ts";

/** Captures a command's output, and sets the environment that the command sees. */
export function captureIo(env: Io["env"]): Io & { taken(): string } {
  let text = "";
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  return {
    stdout,
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
    env,
    cwd: "/",
    color: false,
    interrupted: new AbortController().signal,
    readStdin: async () => "",
    taken: () => {
      const taken = text;
      text = "";
      return taken;
    },
  };
}
