import type { Run, SharedOptions } from "../command-row.ts";
import { print, type Io } from "../io.ts";

interface CommandIo {
  readonly cwd: string;
  readStdin(): Promise<string>;
  print(text: string): Promise<void>;
  say(text: string): Promise<void>;
  printBytes(bytes: Uint8Array): Promise<void>;
}

type Command<Argument, Options> = (argument: Argument, options: Options, io: CommandIo) => Promise<number>;

/** What the build of `servers/gnn/` exports. It knows this package by its name, so it is not imported by its own. */
interface GnnModule {
  readonly check: Command<readonly string[], SharedOptions>;
  readonly fmt: Command<readonly string[], SharedOptions>;
  readonly exportFile: Command<string, SharedOptions>;
  readonly draw: Command<string, SharedOptions>;
  readonly run: Command<string, SharedOptions>;
  readonly render: Command<string, SharedOptions>;
  readonly newFile: (options: SharedOptions, io: CommandIo) => Promise<number>;
  readonly diff: Command<readonly [string, string], SharedOptions>;
  readonly explain: Command<string, SharedOptions>;
}

export const check: Run = async (files, options, io) => (await loadGnn()).check(files, options, commandIo(io));

export const fmt: Run = async (files, options, io) => (await loadGnn()).fmt(files, options, commandIo(io));

export const exportModel: Run = async ([file = "-"], options, io) =>
  (await loadGnn()).exportFile(file, options, commandIo(io));

export const runModel: Run = async ([file = "-"], options, io) => (await loadGnn()).run(file, options, commandIo(io));

export const renderModel: Run = async ([file = "-"], options, io) =>
  (await loadGnn()).render(file, options, commandIo(io));

export const newFile: Run = async (_, options, io) => (await loadGnn()).newFile(options, commandIo(io));

export const diff: Run = async ([before = "-", after = "-"], options, io) =>
  (await loadGnn()).diff([before, after], options, commandIo(io));

export const explain: Run = async ([file = "-"], options, io) =>
  (await loadGnn()).explain(file, options, commandIo(io));

export const draw: Run = async ([file = "-"], options, io) => (await loadGnn()).draw(file, options, commandIo(io));

async function loadGnn(): Promise<GnnModule> {
  return (await import(new URL("../../servers/gnn/command/gnn-commands.js", import.meta.url).href)) as GnnModule;
}

function commandIo(io: Io): CommandIo {
  return {
    cwd: io.cwd,
    readStdin: () => io.readStdin(),
    print: (text) => print(io.stdout, text),
    say: (text) => print(io.stderr, text),
    printBytes: (bytes) =>
      new Promise((done, failed) => io.stdout.write(bytes, (error) => (error ? failed(error) : done()))),
  };
}
