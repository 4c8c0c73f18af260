import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { serviceIo, type ServiceIo } from "../output/service-io.ts";
import { importServer } from "../../extras/server-package.ts";
import { libraryEnvironment } from "../hub-access/library-environment.ts";
import type { Io } from "../output/io.ts";

type LibraryCommand<Argument> = (argument: Argument, options: SharedOptions, io: ServiceIo) => Promise<number>;

/** Exports of `@toolyard/library`. It depends on this package, so its declarations are not available here. */
interface LibraryModule {
  readonly add: LibraryCommand<readonly string[]>;
  readonly search: LibraryCommand<readonly string[]>;
  list(options: SharedOptions, io: ServiceIo): Promise<number>;
  readonly show: LibraryCommand<string>;
  readonly remove: LibraryCommand<readonly string[]>;
  reindex(options: SharedOptions, io: ServiceIo): Promise<number>;
}

export const add: CommandAction = async (paths, options, io) =>
  (await loadLibrary()).add(paths, options, await libraryIo(options, io));

export const search: CommandAction = async (words, options, io) =>
  (await loadLibrary()).search(words, options, await libraryIo(options, io));

export const list: CommandAction = async (_none, options, io) =>
  (await loadLibrary()).list(options, await libraryIo(options, io));

export const show: CommandAction = async ([id = ""], options, io) =>
  (await loadLibrary()).show(id, options, await libraryIo(options, io));

export const remove: CommandAction = async (ids, options, io) =>
  (await loadLibrary()).remove(ids, options, await libraryIo(options, io));

export const reindex: CommandAction = async (_none, options, io) =>
  (await loadLibrary()).reindex(options, await libraryIo(options, io));

export const renew: CommandAction = async (_none, options, io) =>
  (await loadRenew()).renew(options, await libraryIo(options, io));

export const watch: CommandAction = async (folders, options, io) =>
  (await loadWatch()).watch(folders, options, await libraryIo(options, io));

export const evaluateOn: CommandAction = async (_none, options, io) =>
  (await loadMeasures()).evaluateOn(options, await libraryIo(options, io));

export const bench: CommandAction = async (_none, options, io) =>
  (await loadMeasures()).bench(options, await libraryIo(options, io));

interface MeasuresModule {
  evaluateOn(options: SharedOptions, io: ServiceIo): Promise<number>;
  bench(options: SharedOptions, io: ServiceIo): Promise<number>;
}

function loadWatch(): Promise<{ readonly watch: LibraryCommand<readonly string[]> }> {
  return importServer("library", "command/watch-command");
}

function loadRenew(): Promise<{ renew(options: SharedOptions, io: ServiceIo): Promise<number> }> {
  return importServer("library", "command/renew-command");
}

function loadMeasures(): Promise<MeasuresModule> {
  return importServer("library", "command/measure-commands");
}

function loadLibrary(): Promise<LibraryModule> {
  return importServer("library", "command/library-commands");
}

/** Returns the input and output of a command that opens the library. */
export async function libraryIo(options: SharedOptions, io: Io): Promise<ServiceIo> {
  return serviceIo({ ...io, env: await libraryEnvironment(options, io) });
}
