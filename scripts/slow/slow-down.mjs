// Slows this machine down for one program and its children: by a quota of processor time if the kernel accepts one,
// else by busy processes. With a quota of a third, work on all cores takes three times as long, work on one core of two
// 1.5 times.
import { fork, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const WAYS = ["quota", "systemd", "load"];
/**
 * Period of the quota in microseconds. It is short, so that the machine becomes slow and does not alternately stop and
 * run.
 */
const PERIOD_US = 20_000;
const cores = availableParallelism();

/**
 * Slows this machine down. The returned `wrap` returns a slow command line; `pause` and `resume` control the load,
 * which slows every program; `endWhatIsLeft` ends the processes that outlived their command, if they can be identified,
 * and returns their number.
 */
export async function slowDown({ factor, by }) {
  const ways = { quota: byQuota, systemd: bySystemd, load: byLoad };
  for (const way of by ? [by] : WAYS) {
    const found = ways[way](factor);
    if (found) return found;
  }
  throw new Error(`This machine cannot be slowed by ${by}. Try --by load.`);
}

const idle = {
  wrap: (command) => command,
  pause: async () => {},
  resume: async () => {},
  endWhatIsLeft: () => 0,
  close: async () => {},
};

/** Creates a separate control group, of cgroup version 1 or 2. */
function byQuota(factor) {
  const quotaUs = Math.round((cores / factor) * PERIOD_US);
  for (const { parent, write } of groupParents(quotaUs)) {
    const group = join(parent, `toolyard-slow-${process.pid}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      write(group);
      // Moves a process into the group. Any process with write access to the group may do this.
      const joined = spawnSync("sh", ["-c", 'echo $$ > "$0" && exec true', join(group, "cgroup.procs")]);
      if (joined.status !== 0) throw new Error("The group takes no process.");
      return {
        ...idle,
        ...inGroup(group),
        description: `a quota of ${quotaUs / 1000} ms in ${PERIOD_US / 1000} ms on ${cores} cores (${group}).`,
      };
    } catch {
      rmdirSync(group);
    }
  }
  return undefined;
}

function inGroup(group) {
  const procs = join(group, "cgroup.procs");
  const members = () => readFileSync(procs, "utf8").split("\n").filter(Boolean).map(Number);
  const endWhatIsLeft = () => {
    const left = members();
    for (const pid of left) process.kill(pid, "SIGKILL");
    return left.length;
  };
  const close = async () => {
    endWhatIsLeft();
    while (members().length > 0) await new Promise((done) => setTimeout(done, 20));
    rmdirSync(group);
  };
  return { wrap: (command) => ["sh", "-c", 'echo $$ > "$0" && exec "$@"', procs, ...command], endWhatIsLeft, close };
}

/** Returns the folders in which a group may be created, the nearest first, and the format of its quota. */
function groupParents(quotaUs) {
  if (process.platform !== "linux") return [];
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  const groups = readFileSync("/proc/self/cgroup", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const second = mounts.find(([, , type]) => type === "cgroup2")?.[1];
  const first = mounts.find(([, , type, flags]) => type === "cgroup" && flags.split(",").includes("cpu"))?.[1];
  const own = (isOurs) => groups.find(isOurs)?.[2] ?? "/";
  const writeSecond = (group) => writeFileSync(join(group, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
  const writeFirst = (group) => {
    writeFileSync(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
    writeFileSync(join(group, "cpu.cfs_quota_us"), String(quotaUs));
  };
  return [
    ...(second
      ? upwards(
          second,
          own(([id]) => id === "0"),
        ).map((parent) => ({ parent, write: writeSecond }))
      : []),
    ...(first
      ? upwards(
          first,
          own(([, names = ""]) => names.split(",").includes("cpu")),
        ).map((parent) => ({ parent, write: writeFirst }))
      : []),
  ];
}

function upwards(mount, path) {
  const found = [];
  for (let at = path; ; at = dirname(at)) {
    found.push(join(mount, at));
    if (at === "/" || at === ".") return found;
  }
}

function bySystemd(factor) {
  const user = process.getuid?.() === 0 ? [] : ["--user"];
  const scope = [
    "systemd-run",
    ...user,
    "--scope",
    "--quiet",
    "-p",
    `CPUQuota=${Math.round((cores / factor) * 100)}%`,
    "-p",
    `CPUQuotaPeriodSec=${PERIOD_US / 1000}ms`,
    "--",
  ];
  if (process.platform !== "linux" || spawnSync(scope[0], [...scope.slice(1), "true"]).status !== 0) return undefined;
  return { ...idle, wrap: (command) => [...scope, ...command], description: `${scope.join(" ")} on ${cores} cores.` };
}

/** Starts so many busy processes per core that another process gets only the requested share of the core. */
function byLoad(factor) {
  const perCore = Math.max(1, Math.round(factor) - 1);
  let busy = [];
  const resume = async () => {
    busy = Array.from({ length: perCore * cores }, () =>
      fork(fileURLToPath(new URL("busy.mjs", import.meta.url)), { stdio: "ignore" }),
    );
  };
  const pause = async () => {
    await Promise.all(busy.map((child) => new Promise((done) => child.once("exit", done).kill("SIGKILL"))));
    busy = [];
  };
  return { ...idle, resume, pause, close: pause, description: `${perCore} busy processes for each of ${cores} cores.` };
}
