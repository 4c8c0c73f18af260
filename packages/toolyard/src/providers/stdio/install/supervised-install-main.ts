// The downloading process. It outlives the hub that started it, within its own time limit.
import { text } from "node:stream/consumers";
import { messageOf } from "../../../core/errors.ts";
import { adopt, type AdoptedStart } from "./start-adoption.ts";
import { NOT_NEEDED } from "./install-supervisor.ts";
import { superviseInstall, type InstallJob } from "./supervised-install.ts";

const ended = new AbortController();
process.once("SIGTERM", () => ended.abort());
process.once("SIGINT", () => ended.abort());
// A closed terminal must not interrupt a download.
process.on("SIGHUP", () => {});
process.stderr.on("error", () => {});

try {
  const [written = "", word] = (await text(process.stdin)).split("\n");
  // Truncated input is not valid JSON. In that case, no process waits for the download either.
  const job: InstallJob | AdoptedStart = JSON.parse(written);
  if (word === NOT_NEEDED) process.exit();
  if ("tree" in job) await adopt(job, ended.signal);
  else await superviseInstall(job, ended.signal);
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(messageOf(error));
}
