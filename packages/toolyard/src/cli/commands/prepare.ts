import { relative } from "node:path";
import { FailError, messageOf } from "../../core/errors.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import type { Preparation } from "../../core/sources/provider.ts";
import type { Hub } from "../../hub/open-hub.ts";
import { preparationsOf } from "../../hub/sources/settled.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { EXIT, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { LiveLine } from "../live/line-text.ts";
import { showLive } from "../live/live.ts";
import { withHub } from "../hub-access/session.ts";
import { plainLine } from "../output/table.ts";

/** One requirement of tools, and its result. */
class PreparationItem {
  readonly preparation: Preparation;
  readonly name: string;
  state: "ready" | "needed" | "installing" | "installed" | "failed" | "impossible";
  message: string | undefined;

  constructor(preparation: Preparation, io: Io) {
    const { file, kind, isReady, problem } = preparation;
    this.preparation = preparation;
    const place = relative(io.cwd, file);
    const shown = plainLine(place.startsWith("..") ? file : place);
    this.name = kind === "header" ? `header of ${shown}` : shown;
    this.state = isReady ? "ready" : problem === undefined ? "needed" : "impossible";
    this.message = isReady ? undefined : problem;
  }

  get line(): LiveLine {
    const { name, state } = this;
    const installing = state === "installing" ? this.preparation.progress() : undefined;
    const outcome = state === "installing" ? "busy" : state === "failed" ? "failed" : "ok";
    return { name, state, outcome, ...(installing && { note: installing.waitsFor }) };
  }

  async install(signal: AbortSignal): Promise<void> {
    this.state = "installing";
    try {
      await this.preparation.run(signal);
      this.state = "installed";
    } catch (error) {
      if (signal.aborted) throw error;
      this.state = "failed";
      this.message = error instanceof FailError ? error.failure.message : messageOf(error);
    }
  }
}

export const run: CommandAction<SharedOptions> = (_args, options, io) =>
  withHub({ ...options, logLevel: "error", lazy: true, only: ({ kind }) => KINDS_OF_SOURCE.has(kind) }, io, (_, hub) =>
    prepare(hub, options, io),
  );

const KINDS_OF_SOURCE: ReadonlySet<string> = new Set(["scripts", "folders"]);

async function prepare(hub: Hub, options: SharedOptions, io: Io): Promise<number> {
  const items = (await preparationsOf(hub.sources)).map((one) => new PreparationItem(one, io));
  const needed = items.filter(({ state }) => state === "needed");
  if (!options.json) await print(io.stdout, planText(items));
  if (needed.length > 0) {
    await assertWanted(needed.length, options, io);
    await installAll(needed, options, io);
  }
  if (options.json) await printJson(io.stdout, items.map(toJson));
  else if (needed.length > 0) await print(io.stdout, needed.map(endText).join("\n"));
  const isAll = items.every(({ state }) => state === "ready" || state === "installed");
  return isAll ? EXIT.ok : KINDS.unavailable.exit;
}

/** Describes the plan: requirements that are met, requirements that cannot be met, and commands to run. */
function planText(items: readonly PreparationItem[]): string {
  if (items.length === 0) return "No tool here names packages that it needs.";
  return items
    .map(({ name, state, message, preparation: { commands, note, target, tools } }) => {
      const head = `${name} (${tools.map(plainLine).join(", ")})`;
      if (state === "ready") return `${head}: installed in ${plainLine(target)}`;
      if (state === "impossible") return `${head}: ${plainLine(message ?? "")}`;
      return [`${head}:`, ...commands.map((command) => `  ${plainLine(command)}`), ...(note ? [`  ${note}`] : [])].join(
        "\n",
      );
    })
    .join("\n");
}

async function assertWanted(count: number, { yes, json }: SharedOptions, io: Io): Promise<void> {
  if (yes) return;
  const what = count === 1 ? "Run that" : `Run these ${count}`;
  if (!json && io.ask && (await io.ask(`${what}, with code of the packages where one must be built? [y/N] `, false)))
    return;
  throw new UsageError(
    "Nothing was installed, because no user agreed. `toolyard prepare --yes` installs without asking.",
  );
}

async function installAll(items: readonly PreparationItem[], { json = false }: SharedOptions, io: Io): Promise<void> {
  const live = showLive(io, { read: () => items.map(({ line }) => line), json });
  try {
    await Promise.all(items.map((item) => item.install(io.interrupted)));
  } finally {
    live.end();
  }
}

function endText({ name, state, message }: PreparationItem): string {
  return message === undefined ? `${name}: ${state}` : `${name}: ${plainLine(message)}`;
}

function toJson({ preparation, state, message }: PreparationItem): object {
  const { kind, file, target, tools, commands, note } = preparation;
  return {
    kind,
    file,
    target,
    tools,
    commands,
    state,
    ...(note && { note }),
    ...(message !== undefined && { message }),
  };
}
