import { join } from "node:path";
import { fail } from "../../core/calls/outcome.ts";
import { dataFolder } from "../../core/data-folder.ts";
import { FailError } from "../../core/errors.ts";
import { isJsonObject, stringMember } from "../../core/json/json.ts";
import { openBrowser, openBrowserSecretly } from "../../process/open-browser.ts";
import { EXIT } from "../failure.ts";
import { hubAddress, type HubAddress } from "../hub-access/hub-address.ts";
import { askRunningHub } from "../hub-access/request-running-hub.ts";
import { wantsToken } from "../hub-access/session.ts";
import { print, printJson, type Io } from "../output/io.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";

interface Options extends SharedOptions {
  /** False with `--no-browser`. */
  readonly browser: boolean;
}

const LINKS_PATH = "/api/admin/links";
const CONSOLE_PATH = "/console/";

/** Opens the console with a link that signs the browser in once. The link is in the fragment, which is never sent. */
export const run: CommandAction<Options> = async (_args, options, io) => {
  const address = await consoleLink(await hubAddress(options, io), io);
  const isOpen = options.browser && (await openConsole(address, io));
  if (options.json) await printJson(io.stdout, { url: address, opened: isOpen });
  else if (isOpen) {
    const page = address.split("#", 1)[0]!;
    await print(io.stdout, `The browser opens ${page}. If it does not, run \`toolyard open --no-browser\`.`);
  } else if (hasCode(address)) await print(io.stdout, `Open this address in a browser within a minute:\n\n${address}`);
  else await print(io.stdout, `Open this address in a browser:\n\n${address}`);
  return EXIT.ok;
};

/** Returns whether an address has the code of a link, which works for a minute. */
function hasCode(address: string): boolean {
  return address.includes("#");
}

/**
 * Opens the console. An address with a code is not passed on the browser's command line, which other users can read.
 */
function openConsole(address: string, { env }: Io): Promise<boolean> {
  if (!hasCode(address)) return openBrowser(address, env);
  return openBrowserSecretly(address, { folder: join(dataFolder(env), "open"), variables: env });
}

async function consoleLink({ base, token }: HubAddress, io: Io): Promise<string> {
  const url = new URL(`${base}${LINKS_PATH}`);
  const { status, json } = await askRunningHub({ url, token, method: "POST", body: "{}" }, "The console runs", io);
  const { origin } = url;
  if (status === 200 && isJsonObject(json)) {
    const link = stringMember(json, "url");
    if (link !== undefined && /^https?:\/\//.test(link)) return link;
  }
  // Without a token, users sign in on the page itself.
  if (status === 401 && token === undefined) return `${base}${CONSOLE_PATH}`;
  if (status === 401) throw new FailError(wantsToken(origin, true));
  if (status === 404)
    throw new FailError(
      fail(
        "unavailable",
        `The hub at ${origin} serves no console. It is off with \`enabled = false\` of \`[console]\`, and on a hub ` +
          "that other machines reach without credentials.",
      ),
    );
  throw new FailError(fail("malformed", `${origin} answered HTTP ${status} and no link. Is it a toolyard hub?`));
}
