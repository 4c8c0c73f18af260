import { resolve, sep } from "node:path";
import { formatBytes } from "../../core/text/bytes.ts";
import { KINDS } from "../../core/calls/kinds.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { LOCAL_PRINCIPAL } from "../../core/calls/call.ts";
import type { Hub } from "../../hub/open-hub.ts";
import { EXIT } from "../failure.ts";
import { fitToSchema, readArguments } from "../input/arguments.ts";
import { contentText } from "../output/content.ts";
import { oneCall, reportOutcome, type OneCallOptions } from "../hub-access/one-call.ts";
import { print, printPainted, type Io } from "../output/io.ts";
import { assertPlace, mediaOf, saveMedia, type Medium } from "../output/saved-media.ts";
import { imageProtocol, imageText } from "../output/shown-image.ts";
import type { CommandAction } from "../rows/command-row.ts";

interface Options extends OneCallOptions {
  readonly out?: string;
  readonly task?: boolean;
}

export const run: CommandAction<Options> = async ([tool = "", ...words], options, io) => {
  const given = await readArguments(words, io);
  const isJson = words.length === 0 || words[0] === "-" || words[0]!.trimStart().startsWith("{");
  if (options.task) return (await import("./tasks.ts")).start({ tool, given, isJson }, options, io);
  const out = options.out === undefined ? undefined : placeOf(options.out, io);
  if (out !== undefined) await assertPlace(out);
  const outcome = await oneCall({ ...options, shown: tool }, io, async (toolyard, call, hub) =>
    toolyard.call(tool, isJson ? given : await fitted(hub, tool, given), call),
  );
  const code = await reportOutcome(outcome, { json: options.json === true, io }, contentText);
  if (!outcome.ok) return code;
  const media = mediaOf(outcome.result);
  if (options.json !== true) await showImages(media, io);
  return out === undefined ? code : await save(media, out, { ...options, io });
};

/** Returns the output path. A trailing slash marks a folder. */
function placeOf(out: string, io: Io): string {
  return `${resolve(io.cwd, out)}${/[/\\]$/.test(out) ? sep : ""}`;
}

async function showImages(media: readonly Medium[], io: Io): Promise<void> {
  const protocol = imageProtocol(io);
  if (protocol === undefined) return;
  for (const medium of media) {
    const text = imageText(medium, protocol);
    if (text !== undefined) await printPainted(io.stdout, text);
  }
}

async function save(
  media: readonly Medium[],
  out: string,
  { json, io }: Options & { readonly io: Io },
): Promise<number> {
  const whole = media.filter(({ isDamaged }) => isDamaged !== true);
  const paths = await saveMedia(whole, out);
  const damaged = media.length - whole.length;
  if (damaged > 0)
    await print(io.stderr, `${damaged} of ${media.length} could not be saved: what the server sent is no base64.`);
  const code = damaged > 0 ? KINDS.malformed.exit : EXIT.ok;
  if (json) return code;
  const sizes = paths.map((path, at) => `${path} (${formatBytes(whole[at]!.bytes.byteLength)})`);
  if (media.length === 0) await print(io.stderr, "There was no image, no audio and no resource to save.");
  else if (sizes.length > 0) await print(io.stderr, sizes.map((text) => `Wrote ${text}.`).join("\n"));
  return code;
}

/** Converts `a=2` to a number if the tool's schema requires one. */
async function fitted(hub: Hub, tool: string, given: JsonObject): Promise<JsonObject> {
  const lookup = await hub.tools.describeTool(tool, { mode: "all", principal: LOCAL_PRINCIPAL });
  return lookup.found ? fitToSchema(given, lookup.entry["inputSchema"]) : given;
}
