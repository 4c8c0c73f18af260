import type { ToolMode } from "../../core/calls/call.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Toolyard } from "../../kernel/toolyard.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { UsageError } from "../failure.ts";
import { withHub } from "../hub-access/session.ts";
import { startedHere, tellMissing, tellStarting } from "../hub-access/still-starting.ts";
import { table } from "../output/table.ts";
import { definitionTokens, listTokens } from "../tokens/definition-tokens.ts";

interface Options extends SharedOptions {
  readonly mode: ToolMode;
  readonly resources?: boolean;
  readonly templates?: boolean;
  readonly prompts?: boolean;
  readonly tokens?: boolean;
}

export const run: CommandAction<Options> = (_args, options, io) =>
  withHub({ ...options, shows: options.mode }, io, async (hub, inner) => {
    assertTokensOfTools(options);
    await startedHere(inner, io);
    const entries = await entriesOf(hub, options);
    if (options.json) {
      await printJson(io.stdout, options.tokens ? entries.map(withTokens) : entries);
      return tellMissing(inner, true, io);
    }
    await printEntries(entries, options, io);
    await tellStarting(hub, io);
    if (entries.length > 0 && identityOf(options) === "tool" && io.stdout.isTTY === true)
      await print(io.stderr, "`toolyard show <tool>` shows one with its parameters and an example.");
    // If no configuration was found, the user would not know where the tools come from.
    if (options.url === undefined && inner.config.files.length === 0)
      await print(
        io.stderr,
        "There is no toolyard.toml here: these are the hub's own. `toolyard init` writes one, --config names one.",
      );
    return tellMissing(inner, false, io);
  });

/** Prints a table of the entries, with a line on the total tokens if they are requested. */
async function printEntries(entries: readonly JsonObject[], options: Options, io: Io): Promise<void> {
  if (entries.length === 0)
    return print(io.stdout, "Nothing is offered. `toolyard check` shows the state of each source.");
  const { tokens = false } = options;
  const rows = entries.map((entry) => [
    identity(entry),
    ...(tokens ? [String(definitionTokens(entry))] : []),
    String(entry["description"] ?? entry["title"] ?? ""),
  ]);
  const headers = [identityOf(options), ...(tokens ? ["tokens"] : []), "description"];
  await printPainted(io.stdout, table(headers, rows, { ...io, maxLines: DESCRIPTION_LINES }));
  if (tokens) await print(io.stdout, `\n${entries.length} tools, about ${listTokens(entries)} tokens`);
}

function assertTokensOfTools(options: Options): void {
  if (options.tokens && identityOf(options) !== "tool")
    throw new UsageError("--tokens counts tools. Leave out --resources, --templates and --prompts.");
}

function withTokens(entry: JsonObject): JsonObject {
  return { ...entry, tokens: definitionTokens(entry) };
}

/** Maximum number of description lines on a terminal; `toolyard show` prints all. */
const DESCRIPTION_LINES = 3;

function entriesOf(hub: Toolyard, options: Options): Promise<readonly JsonObject[]> {
  if (options.resources) return hub.listResources();
  if (options.templates) return hub.listResourceTemplates();
  if (options.prompts) return hub.listPrompts();
  // The remote hub already returned the list of the requested mode, so all its tools are shown.
  return hub.list({ mode: options.url === undefined ? options.mode : "all" });
}

function identityOf({ resources, templates, prompts }: Options): string {
  if (resources) return "uri";
  if (templates) return "template";
  return prompts ? "prompt" : "tool";
}

function identity(entry: JsonObject): string {
  return String(entry["uri"] ?? entry["uriTemplate"] ?? entry["name"]);
}
