import { readProcessTable, type ProcessRow } from "../../../process/process-table.ts";

/** A process that waits for something wakes up now and then; more than this between two looks is work. */
const MIN_TICKS = 5;

/**
 * Says of a process whether it or what it started was at work since it was last asked: a child came or went, or they
 * had a processor for a while. Nothing is known of that on Windows.
 */
export function watchFamily(readTable: () => readonly ProcessRow[] = readProcessTable): (pid: number) => boolean {
  let known: Family | undefined;
  return (pid) => {
    const now = familyOf(pid, readTable());
    const before = known;
    known = now;
    return before !== undefined && (now.members !== before.members || now.ticks - before.ticks >= MIN_TICKS);
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
