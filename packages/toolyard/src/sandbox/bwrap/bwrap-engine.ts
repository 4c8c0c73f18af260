import { join } from "node:path";
import { bwrapCommand, programFolders } from "../../runtimes/bwrap/command.ts";
import { probeBwrap } from "../../runtimes/bwrap/probe.ts";
import type { ChildSettings } from "../child-messages.ts";
import { createEmbeddedEngine, type EmbeddedEngine } from "../embedded-engine.ts";
import { distFolder, lockedArguments, readablePaths } from "../node-flags.ts";
import type { SandboxOptions } from "../options.ts";
import type { SandboxProcessOptions } from "../sandbox-process.ts";

/** Memory of the child itself and of prepared workers, in addition to running interpreters. */
const BASE_BYTES = 1024 ** 3;
const SPARE_WORKERS = 2;
const OPEN_FILES = 256;

/**
 * Creates an engine that runs the embedded engine's child inside bubblewrap: the same interpreters, and a second,
 * independent isolation. Linux only.
 */
export function createBwrapEngine(options: SandboxOptions): EmbeddedEngine {
  return createEmbeddedEngine(options, {
    name: "bwrap",
    isolation:
      "WebAssembly in a child process without rights, behind bubblewrap, without files, network and processes " +
      "of the machine, system calls filtered",
    unavailable: async () => (await probeBwrap()).reason,
    wall: (settings) => wall(settings),
  });
}

async function wall(settings: ChildSettings): Promise<Pick<SandboxProcessOptions, "command" | "files">> {
  const state = await probeBwrap();
  if (!state.found) throw new Error(state.reason);
  const { command, args, files } = bwrapCommand(state.found, {
    command: process.execPath,
    args: [...lockedArguments(settings), join(distFolder(), "sandbox", "child", "main.js")],
    cwd: "/tmp",
    readable: [...programFolders(process.execPath), ...readablePaths(settings).map((path) => path.replace(/\/$/u, ""))],
    writable: [],
    network: false,
    processes: false,
    limits: {
      memoryBytes: BASE_BYTES + settings.memoryBytes * (settings.runs + settings.sessions + SPARE_WORKERS),
      openFiles: OPEN_FILES,
      fileBytes: 0,
    },
    measure: "data",
    extraPipes: 1,
  });
  return { command: [command, ...args], files };
}
