import type { Run, SharedOptions } from "../rows/command-row.ts";
import { serviceIo, type ServiceIo } from "../output/service-io.ts";
import { importServer } from "../../extras/server-package.ts";

type Command<Argument, Options> = (argument: Argument, options: Options, io: ServiceIo) => Promise<number>;

/** Exports of `@toolyard/gnn`. It depends on this package, so its declarations are not available here. */
interface GnnModule {
  readonly check: Command<readonly string[], SharedOptions>;
  readonly fmt: Command<readonly string[], SharedOptions>;
  readonly exportFiles: Command<readonly string[], SharedOptions>;
  readonly draw: Command<readonly string[], SharedOptions>;
  readonly run: Command<readonly string[], SharedOptions>;
  readonly render: Command<readonly string[], SharedOptions>;
  readonly newFile: (options: SharedOptions, io: ServiceIo) => Promise<number>;
  readonly diff: Command<readonly [string, string], SharedOptions>;
  readonly explain: Command<string, SharedOptions>;
}

export const check: Run = async (files, options, io) => (await loadGnn()).check(files, options, serviceIo(io));

export const fmt: Run = async (files, options, io) => (await loadGnn()).fmt(files, options, serviceIo(io));

export const exportModel: Run = async (files, options, io) =>
  (await loadGnn()).exportFiles(files, options, serviceIo(io));

export const runModel: Run = async (files, options, io) => (await loadGnn()).run(files, options, serviceIo(io));

export const renderModel: Run = async (files, options, io) => (await loadGnn()).render(files, options, serviceIo(io));

export const newFile: Run = async (_, options, io) => (await loadGnn()).newFile(options, serviceIo(io));

export const diff: Run = async ([before = "-", after = "-"], options, io) =>
  (await loadGnn()).diff([before, after], options, serviceIo(io));

export const explain: Run = async ([file = "-"], options, io) =>
  (await loadGnn()).explain(file, options, serviceIo(io));

export const draw: Run = async (files, options, io) => (await loadGnn()).draw(files, options, serviceIo(io));

function loadGnn(): Promise<GnnModule> {
  return importServer("gnn", "command/gnn-commands");
}
