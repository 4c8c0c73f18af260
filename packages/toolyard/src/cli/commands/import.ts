import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { replaceFile } from "../../config/edit/replace-file.ts";
import { serversOf } from "../../config/edit/sources.ts";
import { importServers, toTomlText, type ImportReport } from "../../config/import/import-servers.ts";
import { knownFiles, type KnownFile } from "../../config/import/known-files.ts";
import { parseToml, readDocument } from "../../config/document.ts";
import { CONFIG_FILE_NAME } from "../../config/locate.ts";
import { ConfigError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { CONFIG_SCHEMA } from "../../hub/schema.ts";
import { consent, writeAccepted } from "../input/consent.ts";
import { exposure } from "../output/exposure.ts";
import { EXIT, UsageError } from "../failure.ts";
import { print, printPainted, printJson, type Io } from "../output/io.ts";
import type { LiveLine } from "../live/line-text.ts";
import { showLive } from "../live/live.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { plainLine, table } from "../output/table.ts";
import { readText } from "../../files/read-text.ts";

interface Options extends SharedOptions {
  readonly output?: string;
  readonly write?: boolean;
}

export const run: CommandAction<Options> = async (files, options, io) => {
  const target = resolve(io.cwd, options.output ?? CONFIG_FILE_NAME);
  if (options.write) await consent(options, io);
  const found = candidates(files, io);
  const live = showLive(io, { read: () => found.map(stepOf), json: options.json === true, plain: false });
  const report = await takenServers(target)
    .then((taken) => importServers(found, { taken, target, cwd: io.cwd, schema: CONFIG_SCHEMA, variables: io.env }))
    .finally(() => live.end());
  const isWritten = options.write === true && report.servers.length > 0;
  if (isWritten)
    await writeAccepted(target, io, async () => append(target, await toTomlText(report.servers, CONFIG_SCHEMA)));
  const warnings = isWritten ? [...report.warnings, ...(await exposure(target, report.servers))] : report.warnings;
  const shown: ImportSummary = { ...report, warnings, target, written: isWritten };
  if (options.json) await printJson(io.stdout, jsonReport(shown));
  else await printReport(shown, io);
  return EXIT.ok;
};

function stepOf({ program, path }: KnownFile): LiveLine {
  return { name: program, state: "reading", note: path };
}

function candidates(files: readonly string[], io: Io): readonly KnownFile[] {
  if (files.length === 0) return knownFiles({ variables: io.env, cwd: io.cwd, platform: process.platform });
  return files.map((file) => {
    const path = resolve(io.cwd, file);
    if (!existsSync(path))
      throw new UsageError(
        `There is no file ${file}. Without a name, \`toolyard import\` looks in the places that clients and ` +
          "editors use.",
      );
    return { program: basename(path), path, workspace: workspaceOf(path) };
  });
}

/**
 * Returns the folder in which servers of this configuration file start. In a folder such as `.vscode`, an editor keeps
 * its file, so the servers start in the parent folder.
 */
function workspaceOf(path: string): string {
  const folder = dirname(path);
  return basename(folder).startsWith(".") ? dirname(folder) : folder;
}

async function takenServers(target: string): Promise<ReadonlyMap<string, JsonObject>> {
  if (!existsSync(target)) return new Map();
  const { tree } = await readDocument(target);
  return new Map(serversOf(tree, CONFIG_SCHEMA).map(({ name, options }) => [name, options]));
}

async function append(target: string, text: string): Promise<void> {
  const before = existsSync(target) ? await readText(target) : "";
  const added = before === "" ? text : `${before.endsWith("\n") ? "" : "\n"}\n${text}`;
  await parseToml("the result", before + added).catch((error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    const reason = "its `mcp` section is written in braces or brackets, where nothing can be added from outside";
    throw new UsageError(
      `${target} cannot be added to: ${reason}. Write it as [mcp.stdio_servers.<name>] and ` +
        "[[mcp.remote_servers]] tables, or name a new file with --output.",
    );
  });
  await replaceFile(target, before + added);
}

/** Output of an import: the report, the target, and whether it was written. */
interface ImportSummary extends ImportReport {
  readonly target: string;
  readonly written: boolean;
}

function jsonReport({ target, written, ...report }: ImportSummary): JsonObject {
  const servers = report.servers.map(({ alias, program, file, kind, variables }) => ({
    alias,
    program,
    file,
    kind,
    variables,
  }));
  const files = report.files.map(({ program, path }) => ({ program, path }));
  return {
    target,
    written,
    servers,
    skipped: report.skipped.map(({ alias, file, reason }) => ({ alias, file, reason })),
    warnings: report.warnings,
    files,
  };
}

async function printReport(shown: ImportSummary, io: Io): Promise<void> {
  const { servers, skipped, warnings, files, target, written } = shown;
  if (files.length === 0)
    return print(
      io.stdout,
      "No server file of a desktop client or editor was found. Name one: `toolyard import <file>`.",
    );
  if (servers.length === 0) await print(io.stdout, "Nothing to take over.");
  else
    await printPainted(
      io.stdout,
      table(
        ["server", "kind", "from"],
        servers.map(({ alias, kind, program, file }) => [alias, kind, `${program} (${file})`]),
        io,
      ),
    );
  for (const { alias, file, reason } of skipped)
    await print(io.stdout, plainLine(`skipped ${alias} of ${file}: ${reason}`));
  for (const { alias, variables } of servers) {
    if (variables.length > 0)
      await print(
        io.stdout,
        `${alias} needs the variable${variables.length > 1 ? "s" : ""} ${variables.join(", ")}, ` +
          `which ${variables.length > 1 ? "are" : "is"} not set or which its editor asks for.`,
      );
  }
  for (const warning of warnings) await print(io.stderr, plainLine(`warning: ${warning}`));
  if (servers.length === 0) return;
  await print(
    io.stdout,
    written
      ? `Added to ${target}. \`toolyard check\` connects to each once.`
      : `Add them to ${target} with \`toolyard import --write\`.`,
  );
}
