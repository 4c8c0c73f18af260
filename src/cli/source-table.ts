import type { ProviderStatus } from "../core/provider.ts";
import { table } from "./table.ts";

/** One source as `status` and `check` show it. */
export interface SourceLine extends ProviderStatus {
  readonly id: string;
  readonly kind: string;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  readonly problems: readonly { readonly subject: string; readonly message: string }[];
}

/** A table of sources, then what is wrong with each of them. */
export function sourceText(lines: readonly SourceLine[]): string {
  const rows = lines.map(({ id, kind, state, tools, resources, prompts, restarts = 0, lastError = "" }) => [id, kind, state, String(tools), String(resources), String(prompts), String(restarts), lastError]);
  const details = lines.flatMap(({ id, stderr = [], problems }) => [
    ...problems.map(({ subject, message }) => `${id}: ${subject}: ${message}`),
    ...stderr.slice(-STDERR_LINES).map((line) => `${id} stderr: ${line}`),
  ]);
  return [table(["source", "kind", "state", "tools", "resources", "prompts", "restarts", "last error"], rows, 160), ...details].join("\n");
}

const STDERR_LINES = 5;
