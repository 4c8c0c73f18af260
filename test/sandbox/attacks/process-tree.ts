import { readdir, readFile } from "node:fs/promises";

/** Processes below this one, their numbers; none where the platform does not tell. */
export async function descendants(): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/u.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // One that ended and was not asked about yet is none.
    if (parent !== undefined && state !== "Z") parents.set(Number(name), Number(parent));
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === process.pid || isBelow(parents.get(pid)));
  return Array.from(parents.keys()).filter((pid) => pid !== process.pid && isBelow(parents.get(pid)));
}
