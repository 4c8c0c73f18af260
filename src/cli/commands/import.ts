import { existsSync } from "node:fs";
import { appendFile, chmod } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { importServers, toTomlText, type ImportReport } from "../../config/import/import-servers.ts";
import { knownFiles, type KnownFile } from "../../config/import/known-files.ts";
import { readDocument } from "../../config/document.ts";
import { remoteName } from "../../config/layers.ts";
import { CONFIG_FILE_NAME } from "../../config/locate.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { EXIT, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "../io.ts";
import type { Run, SharedOptions } from "../program.ts";
import { table } from "../table.ts";

interface Options extends SharedOptions {
  readonly output?: string;
  readonly write?: boolean;
}

export const run: Run<Options> = async (files, options, io) => {
  const target = resolve(io.cwd, options.output ?? CONFIG_FILE_NAME);
  const report = await importServers(candidates(files, io), await takenNames(target));
  if (options.write && report.servers.length > 0) await append(target, report);
  if (options.json) await printJson(io.stdout, jsonReport(report, target, options.write === true));
  else await printReport(report, target, options.write === true, io);
  return EXIT.ok;
};

function candidates(files: readonly string[], io: Io): readonly KnownFile[] {
  if (files.length === 0) return knownFiles({ variables: io.env, cwd: io.cwd, platform: process.platform });
  return files.map((file) => {
    const path = resolve(io.cwd, file);
    if (!existsSync(path)) throw new UsageError(`There is no file ${file}. Without a name, \`toolyard import\` looks in the places that clients and editors use.`);
    return { program: basename(path), path };
  });
}

async function takenNames(target: string): Promise<ReadonlySet<string>> {
  if (!existsSync(target)) return new Set();
  const { tree } = await readDocument(target);
  const mcp = isJsonObject(tree["mcp"]) ? tree["mcp"] : {};
  const remote = Array.isArray(mcp["remote_servers"]) ? (mcp["remote_servers"] as JsonObject[]) : [];
  return new Set([...Object.keys(isJsonObject(mcp["stdio_servers"]) ? mcp["stdio_servers"] : {}), ...remote.map(remoteName)]);
}

async function append(target: string, report: ImportReport): Promise<void> {
  const isNew = !existsSync(target);
  await appendFile(target, `${isNew ? "" : "\n"}${await toTomlText(report.servers)}`);
  // The servers' environment may hold keys, so a file that is made for them is its owner's alone.
  if (isNew) await chmod(target, 0o600);
}

function jsonReport(report: ImportReport, target: string, written: boolean): JsonObject {
  const servers = report.servers.map(({ alias, program, file, kind }) => ({ alias, program, file, kind }));
  return { target, written: written && servers.length > 0, servers, skipped: report.skipped, warnings: report.warnings, files: report.files };
}

async function printReport(report: ImportReport, target: string, written: boolean, io: Io): Promise<void> {
  if (report.files.length === 0) return print(io.stdout, "No server file of a desktop client or editor was found. Name one: `toolyard import <file>`.");
  if (report.servers.length === 0) await print(io.stdout, "Nothing to take over.");
  else await print(io.stdout, table(["server", "kind", "from"], report.servers.map(({ alias, kind, program, file }) => [alias, kind, `${program} (${file})`]), io));
  for (const { alias, file, reason } of report.skipped) await print(io.stdout, `skipped ${alias} of ${file}: ${reason}`);
  for (const warning of report.warnings) await print(io.stderr, `warning: ${warning}`);
  if (report.servers.length === 0) return;
  await print(io.stdout, written ? `Added to ${target}. \`toolyard check\` connects to each once.` : `Add them to ${target} with \`toolyard import --write\`.`);
}
