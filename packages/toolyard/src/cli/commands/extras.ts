import { FailError, messageOf } from "../../core/errors.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import { EXTRAS, parseExtra, type Extra } from "../../extras/extras.ts";
import { extraState, extraStates, removeExtra, type ExtraState } from "../../extras/installed.ts";
import { beginExtraInstall, type RunningExtraInstall } from "../../providers/stdio/install/extra-install.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { EXIT, UsageError } from "../failure.ts";
import { print, printJson, printPainted, type Io } from "../output/io.ts";
import type { LiveLine } from "../live/line-text.ts";
import { showLive } from "../live/live.ts";
import { plainLine, table } from "../output/table.ts";

/** One requested extra and its result. */
class ExtraItem {
  readonly extra: Extra;
  state: "present" | "needed" | "installing" | "installed" | "failed";
  message: string | undefined;
  #running: RunningExtraInstall | undefined;

  constructor(extra: Extra, io: Io) {
    this.extra = extra;
    const { state, versions } = extraState(extra, { variables: io.env });
    const isPresent = state === "beside" || state === "installed";
    this.state = isPresent ? "present" : "needed";
    if (isPresent) this.message = `${PLACES[state]} (${versionsText(versions)})`;
  }

  get line(): LiveLine {
    const { state } = this;
    const outcome = state === "installing" ? "busy" : state === "failed" ? "failed" : "ok";
    return { name: this.extra.name, state, outcome, ...(this.#running && { note: this.#running.waitsFor }) };
  }

  async install(io: Io): Promise<void> {
    this.state = "installing";
    this.#running = beginExtraInstall(this.extra, io.env);
    try {
      await this.#running.done(io.interrupted);
      this.state = "installed";
      this.message = extraState(this.extra, { variables: io.env }).folder;
    } catch (error) {
      if (io.interrupted.aborted) throw error;
      this.state = "failed";
      this.message = error instanceof FailError ? error.failure.message : messageOf(error);
    } finally {
      this.#running = undefined;
    }
  }
}

const PLACES = { beside: "already next to the program", installed: "already installed" } as const;

/** Runs `toolyard extras add`. */
export const add: CommandAction<SharedOptions> = async (names, options, io) => {
  const items = uniqueExtras(names).map((extra) => new ExtraItem(extra, io));
  const needed = items.filter(({ state }) => state === "needed");
  if (needed.length > 0) {
    await assertWanted(needed, options, io);
    await installAll(needed, options, io);
  }
  if (options.json) await printJson(io.stdout, items.map(itemJson));
  else await print(io.stdout, items.map(endText).join("\n"));
  return items.some(({ state }) => state === "failed") ? KINDS.unavailable.exit : EXIT.ok;
};

function uniqueExtras(names: readonly string[]): readonly Extra[] {
  return [...new Set(names.map(parseExtra))];
}

async function assertWanted(needed: readonly ExtraItem[], { yes, json }: SharedOptions, io: Io): Promise<void> {
  if (yes) return;
  const names = needed.map(({ extra }) => extra.name).join(" ");
  if (!json && io.ask) {
    await print(io.stderr, needed.map(planText).join("\n"));
    if (await io.ask("Download that from the npm registry? [y/N] ", false)) return;
  }
  throw new UsageError(`Nothing was downloaded. \`toolyard extras add ${names} --yes\` downloads without asking.`);
}

function planText({ extra: { name, purpose, versions, megabytes } }: ExtraItem): string {
  return `${name}: ${versionsText(versions)}; ${megabytes} MB; for ${purpose}`;
}

function versionsText(versions: Readonly<Record<string, string>>): string {
  return plainLine(
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", "),
  );
}

async function installAll(items: readonly ExtraItem[], { json = false }: SharedOptions, io: Io): Promise<void> {
  const live = showLive(io, { read: () => items.map(({ line }) => line), json });
  try {
    await Promise.all(items.map((item) => item.install(io)));
  } finally {
    live.end();
  }
}

function endText({ extra, state, message = "" }: ExtraItem): string {
  return state === "installed"
    ? `${extra.name}: installed in ${plainLine(message)}`
    : `${extra.name}: ${plainLine(message)}`;
}

function itemJson({ extra, state, message }: ExtraItem): object {
  return { name: extra.name, state, versions: extra.versions, ...(message !== undefined && { message }) };
}

const STATES: Readonly<Record<ExtraState["state"], string>> = {
  beside: "next to the program",
  installed: "installed",
  other: "other version",
  absent: "not installed",
};

/** Runs `toolyard extras list`. */
export const list: CommandAction<SharedOptions> = async (_names, options, io) => {
  const states = extraStates({ variables: io.env });
  if (options.json) await printJson(io.stdout, states.map(stateJson));
  else
    await printPainted(
      io.stdout,
      table(
        ["extra", "state", "size", "for"],
        states.map(({ extra, state }) => [extra.name, STATES[state], `${extra.megabytes} MB`, extra.purpose]),
        io,
      ),
    );
  return EXIT.ok;
};

function stateJson({ extra, state, versions, folder }: ExtraState): object {
  const { name, purpose, megabytes, versions: needed } = extra;
  return { name, purpose, state, megabytes, versions, needed, folder };
}

/** Runs `toolyard extras remove`. */
export const remove: CommandAction<SharedOptions> = async (names, options, io) => {
  const extras = uniqueExtras(names);
  const results = extras.map(({ name }) => ({ name, removed: removeExtra(name, io.env) }));
  if (options.json) await printJson(io.stdout, results);
  else
    await print(
      io.stdout,
      results.map(({ name, removed }) => `${name}: ${removed ? "removed" : absentText(name, io)}`).join("\n"),
    );
  return EXIT.ok;
};

function absentText(name: string, io: Io): string {
  const extra = EXTRAS.find((one) => one.name === name)!;
  const { state, versions } = extraState(extra, { variables: io.env });
  if (state === "absent") return "not installed";
  return `not in the data folder; packages next to the program stay (${versionsText(versions)})`;
}
