import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import type { ServiceIo } from "../output/service-io.ts";
import { libraryIo } from "./library.ts";
import { importServer } from "../../extras/server-package.ts";

type OnFile = (file: string, options: SharedOptions, io: ServiceIo) => Promise<number>;
type OnAll = (options: SharedOptions, io: ServiceIo) => Promise<number>;

/** Exports of `@toolyard/library`. It depends on this package, so its declarations are not available here. */
interface MovesModule {
  readonly exportTo: OnFile;
  readonly importFrom: OnFile;
  readonly backup: OnFile;
  readonly move: OnAll;
  readonly doctor: OnAll;
  readonly stats: OnAll;
}

export const exportTo: CommandAction = async ([file = ""], options, io) =>
  (await loadMoves()).exportTo(file, options, await libraryIo(options, io));

export const importFrom: CommandAction = async ([file = ""], options, io) =>
  (await loadMoves()).importFrom(file, options, await libraryIo(options, io));

export const backup: CommandAction = async ([file = ""], options, io) =>
  (await loadMoves()).backup(file, options, await libraryIo(options, io));

export const move: CommandAction = async (_none, options, io) =>
  (await loadMoves()).move(options, await libraryIo(options, io));

export const doctor: CommandAction = async (_none, options, io) =>
  (await loadMoves()).doctor(options, await libraryIo(options, io));

export const stats: CommandAction = async (_none, options, io) =>
  (await loadMoves()).stats(options, await libraryIo(options, io));

function loadMoves(): Promise<MovesModule> {
  return importServer("library", "command/move-commands");
}
