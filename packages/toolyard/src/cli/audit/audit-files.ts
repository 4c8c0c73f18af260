import { stat } from "node:fs/promises";
import { fail } from "../../core/calls/outcome.ts";
import { FailError } from "../../core/errors.ts";
import { rotatedFiles } from "../../telemetry/audit/rotating-file.ts";
import { readSettings } from "../hub-access/settings.ts";
import type { Io } from "../output/io.ts";
import type { SharedOptions } from "../rows/command-row.ts";

export interface AuditFiles {
  /** Path of the audit file to which the hub writes. */
  readonly current: string;
  /** Paths of all audit files, oldest first; the last one is `current`. */
  readonly all: readonly string[];
  /** Key of the hash chain, if the configuration has one. */
  readonly key?: string;
}

/**
 * Returns the files of the audit: the file that the option names, or else the file in the configuration. Rejects with a
 * `FailError`.
 */
export async function findAuditFiles(options: SharedOptions & { readonly file?: string }, io: Io): Promise<AuditFiles> {
  const { audit = {} } = (await readSettings(options, io)).tree;
  const current = options.file ?? audit.file;
  if (current === undefined)
    throw new FailError(
      fail("unavailable", "The configuration has no `[audit] file`. Name the file with --file, or set it."),
    );
  const rotated = await rotatedFiles(current);
  const exists = await stat(current).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (!exists && rotated.length === 0)
    throw new FailError(fail("unavailable", `There is no audit file ${current}: the hub has not written a line yet.`));
  const key = audit.chain_key;
  return { current, all: [...rotated, ...(exists ? [current] : [])], ...(key !== undefined && { key }) };
}
