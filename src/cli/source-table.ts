import { isJsonObject } from "../core/json.ts";
import type { ProviderStatus } from "../core/provider.ts";
import { colorsOf } from "./colors.ts";
import { installingText } from "./installs.ts";
import type { Io } from "./io.ts";
import { plainLine, table } from "./table.ts";

/** One source as `status` and `check` show it. */
export interface SourceLine extends ProviderStatus {
  readonly id: string;
  readonly kind: string;
  readonly tools: number;
  readonly resources: number;
  readonly prompts: number;
  readonly problems: readonly { readonly subject: string; readonly message: string }[];
}

const STDERR_LINES = 5;

/** Works, or is switched off on purpose. A source that is left out for want of a variable is neither. */
export function isHealthy({ state, lastError, problems }: SourceLine): boolean {
  return problems.length === 0 && (state === "ready" || (state === "disabled" && lastError === undefined));
}

/**
 * A table of sources, then what is wrong with each of them. `everyStderr`: the last lines of healthy ones are shown
 * too.
 */
export function sourceText(
  lines: readonly SourceLine[],
  io: Io,
  { everyStderr }: { readonly everyStderr: boolean },
): string {
  const rows = lines.map(({ id, kind, tools, resources, prompts, restarts = 0, state }) => [
    id,
    kind,
    String(tools),
    String(resources),
    String(prompts),
    String(restarts),
    state,
  ]);
  const details = lines.flatMap((line) => detailsOf(line, io, everyStderr));
  return [
    table(["source", "kind", "tools", "resources", "prompts", "restarts", "state"], rows, io),
    ...(details.length > 0 ? ["", ...details] : []),
  ].join("\n");
}

function detailsOf(line: SourceLine, io: Io, everyStderr: boolean): readonly string[] {
  const { lastError, stderr = [], problems, installing } = line;
  const id = plainLine(line.id);
  const { red, yellow, dim } = colorsOf(io);
  const shown = everyStderr || !isHealthy(line) ? stderr.slice(-STDERR_LINES) : [];
  return [
    ...(installing ? [plainLine(installingText(line.id, installing))] : []),
    ...(lastError === undefined || isTold(lastError, problems) ? [] : [`${red(id)}: ${plainLine(lastError)}`]),
    ...problems.map(({ subject, message }) => `${yellow(id)}: ${plainLine(subject)}: ${plainLine(message)}`),
    ...furtherOf(line).map((text) => `${id}: ${plainLine(text)}`),
    ...shown.map((text) => `${id} ${dim("stderr:")} ${plainLine(text)}`),
  ];
}

/** Servers that run beside the first one, and for whom. */
function furtherOf({ info }: SourceLine): readonly string[] {
  const further = Array.isArray(info?.["further"]) ? info["further"].filter(isJsonObject) : [];
  return further.map(({ for: whom, state, era, pid }) => {
    const facts = [state, era, pid === undefined ? undefined : `pid ${String(pid)}`].filter(
      (fact) => fact !== undefined,
    );
    return `a server of its own for ${String(whom)}: ${facts.join(", ")}`;
  });
}

/** A source of folders has its first problem as its last error as well. */
function isTold(lastError: string, problems: SourceLine["problems"]): boolean {
  return problems.some(({ subject, message }) => lastError === `${subject}: ${message}`);
}
