import { existsSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { serversOf } from "../../config/edit/sources.ts";
import { within } from "../../core/timing/wait.ts";
import type { Hub } from "../../hub/hub.ts";
import { CONFIG_SCHEMA, type LoadedHubConfig } from "../../hub/schema.ts";
import { withHub } from "../hub-access/session.ts";
import { tellInstalls } from "../installs.ts";
import { showLive } from "../live/live.ts";
import { sourceLine } from "../live/sources.ts";
import { print, type Io } from "../output/io.ts";
import type { ClientPlan } from "./client-plans.ts";
import type { ConnectOptions, ConnectWork } from "./options.ts";
import { configOf } from "./target.ts";

/** Number of tools above which a model chooses less well. Each request to the model contains all definitions. */
const MANY_TOOLS = 40;
/** Time after which a server without a response counts as hanging; the number of its tools is estimated. */
const START_MS = 10_000;
/** Time limit of the whole count, including downloads. */
const COUNT_MS = 40_000;
const LOOK_MS = 100;
/** Time limit of the final list, which may wait for servers that are still starting. */
const LIST_MS = 1000;
/** Estimated number of tools of a server without a response. */
const USUAL_TOOLS = 8;

/** Returns the tool mode for all clients of this run, or `undefined` to use the configured mode. */
export async function chooseMode(plans: readonly ClientPlan[], work: ConnectWork): Promise<string | undefined> {
  const { options, io } = work;
  const { tree } = await configOf(work.target, io);
  // `--mode` is already a choice, and a profile already selects the tools of its client.
  const isChosen = options.mode !== undefined || options.profile !== undefined;
  if (isChosen || tree.server?.tool_mode !== undefined) return options.mode;
  const what = await describeMany(plans, tree, work);
  if (what === undefined) return undefined;
  if (options.yes || options.dryRun) {
    await note(work, discoveryNote(what, programOf(plans)));
    return "discovery";
  }
  const question =
    `The hub ${what}. Let ${programOf(plans) ?? "the clients"} find them by search (discovery mode) instead of ` +
    "reading all of them with every request? [Y/n] ";
  return (await io.ask?.(question)) ? "discovery" : undefined;
}

/** Returns the client's command-line name, or `undefined` if there are several clients. */
function programOf(plans: readonly ClientPlan[]): string | undefined {
  return plans.length === 1 ? plans[0]?.client.program : undefined;
}

function discoveryNote(what: string, program: string | undefined): string {
  const [who, reads] = program === undefined ? ["the clients are", "they read"] : [`${program} is`, "it reads"];
  return `The hub ${what}: ${who} to find them by search (discovery mode). With --mode normal ${reads} all of them.`;
}

/** Returns a text about the large number of tools or servers. A dry run starts nothing, so it does not count tools. */
async function describeMany(
  plans: readonly ClientPlan[],
  tree: LoadedHubConfig["tree"],
  work: ConnectWork,
): Promise<string | undefined> {
  const planned = work.options.dryRun ? plans.flatMap(({ added }) => added) : [];
  const servers = [...serversOf(tree, CONFIG_SCHEMA), ...planned];
  const enabled = servers.filter(({ options }) => options["enabled"] !== false).length;
  if (enabled > MANY_TOOLS) return `has ${enabled} servers`;
  if (!work.options.dryRun) return manyTools(work);
  await note(work, `A dry run does not count the hub's tools; above ${MANY_TOOLS} it would use discovery mode.`);
  return undefined;
}

async function note({ options, io }: ConnectWork, text: string): Promise<void> {
  if (!options.json) await print(io.stdout, text);
}

interface Count {
  readonly tools: number;
  /** Servers without a response so far. */
  readonly pending: readonly string[];
}

/**
 * Returns a text about the number of tools if there are many. Starts the servers once, and does not wait for hanging
 * servers.
 */
async function manyTools({ options: { config: _named, ...options }, io, target }: ConnectWork) {
  const named = target.files.filter((file) => existsSync(file));
  const { tools, pending } = await withHub(
    { ...options, config: named, lazy: true, logLevel: "error" },
    io,
    async (toolyard, hub) => {
      const left = await shown(hub, { options, io }, () => answered(hub));
      const listed = await within(toolyard.list({ mode: "normal" }), LIST_MS);
      return { tools: Math.max(listed?.length ?? 0, listed ? 0 : toolsOf(hub)), pending: left } satisfies Count;
    },
  );
  if (tools > MANY_TOOLS) return `lists ${tools} tools`;
  if (pending.length === 0 || tools + USUAL_TOOLS * pending.length <= MANY_TOOLS) return undefined;
  return `lists ${tools} tools, and ${pending.length} servers have not answered yet (${pending.join(", ")})`;
}

/** Resolves with the names of servers without a response, when the others have responded or many tools were found. */
async function answered(hub: Hub): Promise<readonly string[]> {
  const started = performance.now();
  for (;;) {
    const reports = hub.port.sources();
    const pending = reports.filter(({ status }) => status.state === "starting" || status.installing !== undefined);
    const left = pending.map(({ source }) => source.id);
    const spent = performance.now() - started;
    const isInstalling = pending.some(({ status }) => status.installing !== undefined);
    if (left.length === 0 || toolsOf(hub) > MANY_TOOLS || spent > (isInstalling ? COUNT_MS : START_MS)) return left;
    await pause(LOOK_MS);
  }
}

function toolsOf(hub: Hub): number {
  return hub.port.sources().reduce((sum, { tools }) => sum + tools, 0);
}

/** Shows the state of the servers while they start for the count. */
async function shown<T>(
  hub: Hub,
  { options, io }: { readonly options: ConnectOptions; readonly io: Io },
  work: () => Promise<T>,
): Promise<T> {
  const json = options.json === true;
  const live = showLive(io, { read: () => hub.port.sources().flatMap(sourceLine), json, plain: false });
  const quiet = tellInstalls(hub, options, io);
  try {
    return await work();
  } finally {
    quiet();
    live.end();
  }
}
