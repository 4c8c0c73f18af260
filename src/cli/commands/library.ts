import { safeToShow } from "../../core/hidden-text.ts";
import { colorsOf } from "../colors.ts";
import type { Run, SharedOptions } from "../command-row.ts";
import { print, printPainted, type Io } from "../io.ts";

interface CommandIo {
  readonly cwd: string;
  readonly env: Io["env"];
  readonly signal: AbortSignal;
  print(text: string): Promise<void>;
  say(text: string): Promise<void>;
  paint(text: string): Promise<void>;
  safe(text: string): string;
  mark(word: string): string;
}

type Command<Argument> = (argument: Argument, options: SharedOptions, io: CommandIo) => Promise<number>;

/** What the build of `servers/library/` exports; it knows this package by its name, and is not imported by its own. */
interface LibraryModule {
  readonly add: Command<readonly string[]>;
  readonly search: Command<readonly string[]>;
  list(options: SharedOptions, io: CommandIo): Promise<number>;
  readonly show: Command<string>;
  readonly remove: Command<readonly string[]>;
  reindex(options: SharedOptions, io: CommandIo): Promise<number>;
}

export const add: Run = async (paths, options, io) => (await loadLibrary()).add(paths, options, commandIo(io));

export const search: Run = async (words, options, io) => (await loadLibrary()).search(words, options, commandIo(io));

export const list: Run = async (_none, options, io) => (await loadLibrary()).list(options, commandIo(io));

export const show: Run = async ([id = ""], options, io) => (await loadLibrary()).show(id, options, commandIo(io));

export const remove: Run = async (ids, options, io) => (await loadLibrary()).remove(ids, options, commandIo(io));

export const reindex: Run = async (_none, options, io) => (await loadLibrary()).reindex(options, commandIo(io));

async function loadLibrary(): Promise<LibraryModule> {
  return (await import(
    new URL("../../servers/library/command/library-commands.js", import.meta.url).href
  )) as LibraryModule;
}

function commandIo(io: Io): CommandIo {
  return {
    cwd: io.cwd,
    env: io.env,
    signal: io.interrupted,
    print: (text) => print(io.stdout, text),
    say: (text) => print(io.stderr, text),
    paint: (text) => printPainted(io.stdout, text),
    safe: io.stdout.isTTY === true ? safeToShow : (text) => text,
    mark: colorsOf(io).bold,
  };
}
