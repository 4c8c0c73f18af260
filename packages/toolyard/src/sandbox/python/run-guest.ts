import { readdirSync, readFileSync } from "node:fs";
import type { SandboxWorkerSettings } from "../worker-messages.ts";
import { Descriptors } from "./descriptors.ts";
import { GuestExit, GuestParked } from "./errno.ts";
import { GuestLink } from "./guest-link.ts";
import { GuestMemory } from "./guest-memory.ts";
import { GuestOutput } from "./guest-output.ts";
import { HostLink } from "./host-link.ts";
import { canResume, Interpreter } from "./interpreter.ts";
import { PythonJobFiles } from "./job-files.ts";
import { MemoryTree } from "./memory-tree.ts";
import { InterpreterSnapshot } from "./snapshot.ts";
import { mountLibrary } from "./standard-library.ts";

const START = "import sys; sys.path.insert(0, '/site'); from yard import main; main.run()";
const CONTINUE = "import sys; sys.modules['yard.main'].serve()";
/** `-I`: ignores the environment and the user's folder. `-S`: no site. `-B`: writes no bytecode. */
const ARGS = ["python", "-I", "-S", "-B", "-X", "utf8", "-c", START];
const NO_BOUNDS = { bytes: 0, files: 0 };

export interface PythonSettings extends SandboxWorkerSettings {
  /**
   * Memory created by `createSnapshotRoom`. Workers that share it boot the interpreter only once. Absent: each worker
   * boots it.
   */
  readonly snapshots?: SharedArrayBuffer;
  /** Standard library of the interpreter, from `readLibrary`. */
  readonly library?: SharedArrayBuffer;
}

/** Boots the interpreter and runs its jobs; returns when the interpreter ends. */
export function runGuest(settings: PythonSettings): void {
  const snapshot =
    settings.snapshots === undefined || !canResume(settings.module)
      ? undefined
      : new InterpreterSnapshot(settings.snapshots);
  const host = new HostLink(settings);
  const output = new GuestOutput((message) => host.send(message));
  const tree = new MemoryTree(NO_BOUNDS);
  mountPrelude(tree);
  if (settings.library !== undefined) mountLibrary(tree, settings.library);
  const link = new GuestLink({ host, output, files: new PythonJobFiles(tree), isMaker: snapshot?.isMaker === true });
  const descriptors = new Descriptors(tree, [
    {},
    { write: (bytes) => output.write("stdout", bytes) },
    { write: (bytes) => output.write("stderr", bytes) },
  ]);
  const devices = new Map([[".rpc", link]]);
  const interpreter = new Interpreter(settings.module, {
    memory: new GuestMemory(),
    tree,
    descriptors,
    devices,
    args: ARGS,
    beforeTime: () => link.park(),
    sleep: (ms) => link.sleep(ms),
  });
  try {
    start(interpreter, snapshot, { link, descriptors });
    link.fail("crashed", "InterpreterError", "The interpreter ended before the code did. Run the code again.");
  } catch (error) {
    if (link.job === undefined && !(error instanceof GuestExit)) throw error;
    told(link, error);
  }
}

interface GuestRunParts {
  readonly link: GuestLink;
  readonly descriptors: Descriptors;
}

function start(
  interpreter: Interpreter,
  snapshot: InterpreterSnapshot | undefined,
  { link, descriptors }: GuestRunParts,
): void {
  const restored = snapshot?.load();
  if (restored !== undefined) {
    // The file `/.rpc` was the only open file of the guest from which the snapshot was made, so it gets the same
    // descriptor again.
    descriptors.add({ kind: "device", device: link });
    interpreter.restore(restored);
    return interpreter.runString(CONTINUE);
  }
  try {
    interpreter.start();
  } catch (error) {
    if (!(error instanceof GuestParked)) throw error;
    if (descriptors.opened.length === 1) snapshot?.store(interpreter.bytes, interpreter.stack);
    interpreter.runString(CONTINUE);
  }
}

function told(link: GuestLink, error: unknown): void {
  if (error instanceof GuestExit) {
    link.fail(
      "error",
      "SystemExit",
      `The code ended the interpreter with exit code ${error.code}, so that no result could be read. ` +
        "Return a value instead.",
    );
  } else if (error instanceof RangeError) {
    link.fail(
      "crashed",
      "RecursionError",
      "The code is nested deeper than the interpreter's stack. Make it less deep.",
    );
  } else {
    link.fail(
      "crashed",
      "InterpreterError",
      "The interpreter failed while it ran the code (out of memory or stack, or an internal fault). " +
        "Do less in one run.",
    );
  }
}

function mountPrelude(tree: MemoryTree): void {
  const folder = new URL("prelude/", import.meta.url);
  const site = tree.addOwnFolder(tree.find(tree.root, "site"));
  const yard = tree.addOwnFolder(tree.find(site, "yard"));
  for (const name of readdirSync(folder).toSorted()) {
    if (name.endsWith(".py")) tree.addReadOnly(tree.find(yard, name), readFileSync(new URL(name, folder)));
  }
}
