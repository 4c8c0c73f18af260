import type { Run, SharedOptions } from "../rows/command-row.ts";
import { serviceIo, type ServiceIo } from "../output/service-io.ts";

type Command<Argument> = (argument: Argument, options: SharedOptions, io: ServiceIo) => Promise<number>;

/** What the build of `servers/library/` exports; it knows this package by its name, and is not imported by its own. */
interface LibraryModule {
  readonly add: Command<readonly string[]>;
  readonly search: Command<readonly string[]>;
  list(options: SharedOptions, io: ServiceIo): Promise<number>;
  readonly show: Command<string>;
  readonly remove: Command<readonly string[]>;
  reindex(options: SharedOptions, io: ServiceIo): Promise<number>;
}

export const add: Run = async (paths, options, io) => (await loadLibrary()).add(paths, options, serviceIo(io));

export const search: Run = async (words, options, io) => (await loadLibrary()).search(words, options, serviceIo(io));

export const list: Run = async (_none, options, io) => (await loadLibrary()).list(options, serviceIo(io));

export const show: Run = async ([id = ""], options, io) => (await loadLibrary()).show(id, options, serviceIo(io));

export const remove: Run = async (ids, options, io) => (await loadLibrary()).remove(ids, options, serviceIo(io));

export const reindex: Run = async (_none, options, io) => (await loadLibrary()).reindex(options, serviceIo(io));

export const watch: Run = async (folders, options, io) => (await loadWatch()).watch(folders, options, serviceIo(io));

export const evaluateOn: Run = async (_none, options, io) => (await loadMeasures()).evaluateOn(options, serviceIo(io));

export const bench: Run = async (_none, options, io) => (await loadMeasures()).bench(options, serviceIo(io));

interface MeasuresModule {
  evaluateOn(options: SharedOptions, io: ServiceIo): Promise<number>;
  bench(options: SharedOptions, io: ServiceIo): Promise<number>;
}

async function loadWatch(): Promise<{ readonly watch: Command<readonly string[]> }> {
  const file = new URL("../../servers/library/command/watch-command.js", import.meta.url);
  return (await import(file.href)) as { readonly watch: Command<readonly string[]> };
}

async function loadMeasures(): Promise<MeasuresModule> {
  const file = new URL("../../servers/library/command/measure-commands.js", import.meta.url);
  return (await import(file.href)) as MeasuresModule;
}

async function loadLibrary(): Promise<LibraryModule> {
  return (await import(
    new URL("../../servers/library/command/library-commands.js", import.meta.url).href
  )) as LibraryModule;
}
