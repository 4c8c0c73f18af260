// Process that runs a download. It may outlive the hub that started it, and has its own time limit.
import { text } from "node:stream/consumers";
import { messageOf } from "../../../core/errors.ts";
import { adopt, type AdoptedStart } from "./start-adoption.ts";
import { NOT_NEEDED } from "./install-supervisor.ts";
import { superviseInstall, type InstallJob } from "./supervised-install.ts";

const ended = new AbortController();
process.once("SIGTERM", () => ended.abort());
process.once("SIGINT", () => ended.abort());
// The signal is ignored, because a closed terminal must not interrupt a download.
process.on("SIGHUP", () => {});
process.stderr.on("error", () => {});

try {
  const [written = "", word] = (await text(process.stdin)).split("\n");
  // If the input is truncated, parsing fails and this process exits. No process waits for the download then.
  const job: InstallJob | AdoptedStart = JSON.parse(written);
  if (word === NOT_NEEDED) process.exit();
  if ("tree" in job) await adopt(job, ended.signal);
  else await superviseInstall(job, ended.signal);
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(messageOf(error));
}
