import { fail } from "../../core/calls/outcome.ts";
import { hasEnded, type RunningHub } from "../../hub/shared/ask-running.ts";
import { EXIT, reportFail } from "../failure.ts";
import { filesText, findSharedHub, noSharedHub, stopAt } from "../hub-access/running-hub.ts";
import { print, printJson } from "../output/io.ts";
import { plainLine } from "../output/table.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

/** Stops the shared hub gracefully: running calls and servers end normally. */
export const run: CommandAction<SharedOptions> = async (_args, options, io) => {
  const found = await findSharedHub(options, io);
  const stopped = found && (await stopAt(found.place));
  if (!stopped) throw await noSharedHub(options, io);
  const { pid, files, clients } = stopped;
  if (!(await hasEnded(pid, io.interrupted)))
    return reportFail(
      fail("timeout", `The shared hub (process ${pid}) has not ended after 60 s: calls or servers still run in it.`),
      options.json === true,
      io,
    );
  if (options.json) await printJson(io.stdout, { stopped: true, pid, files, clients });
  else await print(io.stdout, stoppedText(stopped));
  return EXIT.ok;
};

function stoppedText({ pid, files, clients, isBesideHttp }: RunningHub): string {
  const what = isBesideHttp ? "The hub of `toolyard serve`, which clients shared," : "The shared hub";
  const open = clients === 1 ? "1 client is" : `${clients} clients are`;
  const who = clients === 0 ? "" : ` ${open} still open; the next request of a client starts a new hub.`;
  return plainLine(`${what} has ended (process ${pid}, ${filesText(files)}).${who}`);
}
