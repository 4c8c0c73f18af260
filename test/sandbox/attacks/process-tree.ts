import { readdir, readFile } from "node:fs/promises";

/** Returns the ids of this process's descendants; empty on platforms that do not list them. */
export async function descendants(): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/u.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Omits zombies.
    if (parent !== undefined && state !== "Z") parents.set(Number(name), Number(parent));
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === process.pid || isBelow(parents.get(pid)));
  return Array.from(parents.keys()).filter((pid) => pid !== process.pid && isBelow(parents.get(pid)));
}
