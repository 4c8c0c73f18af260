import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { serviceIo, type ServiceIo } from "../output/service-io.ts";
import { importServer } from "../../extras/server-package.ts";

type GnnCommand<Argument, Options> = (argument: Argument, options: Options, io: ServiceIo) => Promise<number>;

/** Exports of `@toolyard/gnn`. It depends on this package, so its declarations are not available here. */
interface GnnModule {
  readonly check: GnnCommand<readonly string[], SharedOptions>;
  readonly fmt: GnnCommand<readonly string[], SharedOptions>;
  readonly exportFiles: GnnCommand<readonly string[], SharedOptions>;
  readonly draw: GnnCommand<readonly string[], SharedOptions>;
  readonly run: GnnCommand<readonly string[], SharedOptions>;
  readonly render: GnnCommand<readonly string[], SharedOptions>;
  readonly newFile: (options: SharedOptions, io: ServiceIo) => Promise<number>;
  readonly diff: GnnCommand<readonly [string, string], SharedOptions>;
  readonly explain: GnnCommand<string, SharedOptions>;
}

export const check: CommandAction = async (files, options, io) =>
  (await loadGnn()).check(files, options, serviceIo(io));

export const fmt: CommandAction = async (files, options, io) => (await loadGnn()).fmt(files, options, serviceIo(io));

export const exportModel: CommandAction = async (files, options, io) =>
  (await loadGnn()).exportFiles(files, options, serviceIo(io));

export const runModel: CommandAction = async (files, options, io) =>
  (await loadGnn()).run(files, options, serviceIo(io));

export const renderModel: CommandAction = async (files, options, io) =>
  (await loadGnn()).render(files, options, serviceIo(io));

export const newFile: CommandAction = async (_, options, io) => (await loadGnn()).newFile(options, serviceIo(io));

export const diff: CommandAction = async ([before = "-", after = "-"], options, io) =>
  (await loadGnn()).diff([before, after], options, serviceIo(io));

export const explain: CommandAction = async ([file = "-"], options, io) =>
  (await loadGnn()).explain(file, options, serviceIo(io));

export const draw: CommandAction = async (files, options, io) => (await loadGnn()).draw(files, options, serviceIo(io));

function loadGnn(): Promise<GnnModule> {
  return importServer("gnn", "command/gnn-commands");
}
