// The effect of one server's list on others: the longest turn of the hub's event loop while the list is read, listed,
// searched, described and called with wrong arguments.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { root } from "../lib/hub.mjs";
import { least, median, ms } from "../lib/measure.mjs";
import { FRIEND, STRANGERS } from "../servers/stranger-http.mjs";

const SERVERS = join(root, "bench", "servers");

export async function measureStalls({ quick, folder, report }) {
  for (const name of STRANGERS) {
    const longest = [];
    for (let round = 0; round < (quick ? 1 : 5); round += 1) longest.push(await longestTurn(name, folder()));
    report(
      `longest turn: ${name}`,
      `CPU ${ms(least(longest))} (median ${ms(median(longest))}, most ${ms(Math.max(...longest))})`,
      "50 ms",
    );
  }
}

async function longestTurn(name, home) {
  const servers = [name, FRIEND].map((one) => start("stranger-http.mjs", one));
  try {
    const urls = await Promise.all(servers.map(lineOf));
    const hub = start("watched-hub.mjs", ...urls, home);
    const told = Number(await lineOf(hub));
    if (hub.exitCode === null) await once(hub, "exit");
    return told;
  } finally {
    for (const server of servers) server.kill("SIGKILL");
  }
}

function start(program, ...args) {
  return spawn(process.execPath, [join(SERVERS, program), ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

async function lineOf(child) {
  const gone = once(child, "exit").then(([code]) => Promise.reject(new Error(`It ended with ${code}.`)));
  gone.catch(() => {});
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), gone]);
  return line;
}
