import { readProcessTable, type ProcessRow } from "../../../process/process-table.ts";

/** A process that waits for something wakes up now and then; more than this in the time below is work. */
const MIN_TICKS = 5;
/** On a busy machine work takes its time. */
const WINDOW_MS = 5000;

/**
 * Says of a process whether it or what it started was at work of late: a child came or went, or they had a processor
 * for a while. Nothing is known of that on Windows.
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
  // A list grows while it is gone through, until nobody new is found.
  for (const member of members) members.push(...table.filter((row) => row.parent === member.pid && row !== member));
  const names = members.map((row) => `${row.pid}-${row.startedAt}`).toSorted();
  return { members: names.join(), ticks: members.reduce((sum, { workedTicks }) => sum + workedTicks, 0) };
}
