import { readProcessTable, type ProcessRow } from "../../../process/process-table.ts";

/** Number of ticks within the window that count as work. A waiting process uses fewer. */
const MIN_TICKS = 5;
/**
 * Length of the window in milliseconds. It is long, because on a busy machine the work of a process is spread over
 * time.
 */
const WINDOW_MS = 5000;

/**
 * Returns a function that reports recent work of a process or its descendants: one started or ended, or they used the
 * processor for a while. Not available on Windows.
 */
export function watchFamily(
  readTable: () => readonly ProcessRow[] = readProcessTable,
  clock = (): number => performance.now(),
): (pid: number) => boolean {
  let known: (Family & { readonly at: number }) | undefined;
  return (pid) => {
    const now = { ...familyOf(pid, readTable()), at: clock() };
    const before = known;
    const worked = before !== undefined && (now.members !== before.members || now.ticks - before.ticks >= MIN_TICKS);
    if (worked || before === undefined || now.at - before.at >= WINDOW_MS) known = now;
    return worked;
  };
}

interface Family {
  readonly members: string;
  readonly ticks: number;
}

function familyOf(pid: number, table: readonly ProcessRow[]): Family {
  const members = table.filter((row) => row.pid === pid);
  // The list grows during the loop, so that descendants of all levels are added.
  for (const member of members) members.push(...table.filter((row) => row.parent === member.pid && row !== member));
  const names = members.map((row) => `${row.pid}-${row.startedAt}`).toSorted();
  return { members: names.join(), ticks: members.reduce((sum, { workedTicks }) => sum + workedTicks, 0) };
}
