import { resolve, sep } from "node:path";
import { formatBytes } from "../../core/bytes.ts";
import type { JsonObject } from "../../core/json.ts";
import { LOCAL_PRINCIPAL } from "../../core/call.ts";
import type { Hub } from "../../hub/open-hub.ts";
import { fitToSchema, readArguments } from "../arguments.ts";
import { contentText } from "../content.ts";
import { oneCall, reportOutcome, type OneCallOptions } from "../one-call.ts";
import { print, printPainted, type Io } from "../io.ts";
import { mediaOf, saveMedia, type Medium } from "../saved-media.ts";
import { imageProtocol, imageText } from "../shown-image.ts";
import type { Run } from "../command-row.ts";

interface Options extends OneCallOptions {
  readonly out?: string;
}

export const run: Run<Options> = async ([tool = "", ...words], options, io) => {
  const given = await readArguments(words, io);
  const isJson = words.length === 0 || words[0] === "-" || words[0]!.trimStart().startsWith("{");
  const outcome = await oneCall({ ...options, shown: tool }, io, async (toolyard, call, hub) =>
    toolyard.call(tool, isJson ? given : await fitted(hub, tool, given), call),
  );
  const code = await reportOutcome(outcome, { json: options.json === true, io }, contentText);
  if (!outcome.ok) return code;
  const media = mediaOf(outcome.result);
  if (options.json !== true) await showImages(media, io);
  if (options.out !== undefined) await save(media, options.out, { ...options, io });
  return code;
};

async function showImages(media: readonly Medium[], io: Io): Promise<void> {
  const protocol = imageProtocol(io);
  if (protocol === undefined) return;
  for (const medium of media) {
    const text = imageText(medium, protocol);
    if (text !== undefined) await printPainted(io.stdout, text);
  }
}

async function save(media: readonly Medium[], out: string, { json, io }: Options & { readonly io: Io }): Promise<void> {
  const isFolder = /[/\\]$/.test(out);
  const paths = await saveMedia(media, `${resolve(io.cwd, out)}${isFolder ? sep : ""}`);
  if (json) return;
  const sizes = paths.map((path, at) => `${path} (${formatBytes(media[at]!.bytes.byteLength)})`);
  await print(
    io.stderr,
    sizes.length === 0
      ? "There was no image, no audio and no resource to save."
      : sizes.map((text) => `Wrote ${text}.`).join("\n"),
  );
}

/** `a=2` means the number where the tool's schema wants one. */
async function fitted(hub: Hub, tool: string, given: JsonObject): Promise<JsonObject> {
  const lookup = await hub.describeTool(tool, { mode: "all", principal: LOCAL_PRINCIPAL });
  return lookup.found ? fitToSchema(given, lookup.entry["inputSchema"]) : given;
}
