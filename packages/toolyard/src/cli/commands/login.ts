import { parseDuration } from "../../core/text/duration.ts";
import { FailError } from "../../core/errors.ts";
import { fail } from "../../core/calls/outcome.ts";
import { openBrowser } from "../../process/open-browser.ts";
import { isRefusal, probe } from "../../providers/http/probe.ts";
import { createContext, keyOf } from "../../signin/context.ts";
import { handoverPlace } from "../../signin/handover.ts";
import { loginByDevice, type DeviceShown } from "../../signin/device.ts";
import { login } from "../../signin/login.ts";
import type { SignInRecord } from "../../signin/records.ts";
import type { CommandAction, SharedOptions } from "../rows/command-row.ts";
import { EXIT, reportError, UsageError } from "../failure.ts";
import { print, printJson, type Io } from "../output/io.ts";
import { assertOwn, namedSource, withSignInSources, type SignInSource } from "../sign-ins.ts";

interface Options extends SharedOptions {
  readonly all?: boolean;
  /** False with `--no-browser`. */
  readonly browser: boolean;
  readonly timeout?: string;
  readonly as?: string;
  /** True for a sign-in with a code that the user enters on another device. */
  readonly device?: boolean;
}

/** Time limit for a sign-in with the browser. */
const PATIENCE_MS = 600_000;

export const run: CommandAction<Options> = async ([name], options, io) =>
  withSignInSources(options, io, async (sources) => {
    const chosen = await choose(name, { sources, options, io });
    let code: number = EXIT.ok;
    for (const source of chosen) {
      assertOwn(source, options);
      try {
        await signIn(source, options, io);
      } catch (error) {
        code = await reportError(error, options.json === true, io);
      }
    }
    return code;
  });

async function choose(
  name: string | undefined,
  { sources, options, io }: { sources: readonly SignInSource[]; options: Options; io: Io },
): Promise<readonly SignInSource[]> {
  if (name !== undefined) return [namedSource(name, sources)];
  const wanting: SignInSource[] = [];
  for (const source of sources) if (await wantsSignIn(source, io)) wanting.push(source);
  if (wanting.length === 0) {
    if (!options.json) await print(io.stdout, "No server requires a sign-in.");
    return [];
  }
  if (wanting.length === 1 || options.all) return wanting;
  const ids = wanting.map(({ id }) => id).join(", ");
  throw new UsageError(`These servers want a sign-in: ${ids}. Name one, or take --all.`);
}

/** Returns whether the source requires a sign-in. A source that does not respond counts as one that requires none. */
async function wantsSignIn({ id, options, place }: SignInSource, io: Io): Promise<boolean> {
  const context = createContext(place);
  try {
    const access = (await context.vault.find(keyOf(context)))?.tokens?.access;
    if (access !== undefined) return false;
    return (await probe({ label: id, options, environment: io.env, signal: io.interrupted })).status === 401;
  } catch (error) {
    if (error instanceof FailError) return false;
    throw error;
  } finally {
    await context.network.close();
  }
}

async function signIn(
  { id, options: server, place, publicUrl }: SignInSource,
  options: Options,
  io: Io,
): Promise<void> {
  const patienceMs = options.timeout === undefined ? PATIENCE_MS : parseDuration(options.timeout, "--timeout");
  const late = AbortSignal.timeout(patienceMs);
  const signal = AbortSignal.any([io.interrupted, late]);
  const context = createContext(place);
  try {
    const refusal = await probe({ label: id, options: server, environment: io.env, signal });
    const challenge = isRefusal(refusal) ? refusal : undefined;
    const record = options.device
      ? await loginByDevice(context, { challenge, show: (shown) => showCode(shown, options, io), signal })
      : await login(context, {
          challenge,
          show: (address) => showAddress(address, options, io),
          // A browser on another machine cannot send its response to this command, but it can reach the running hub.
          ...(!options.browser &&
            publicUrl !== undefined && { comesBack: handoverPlace(place.folder, publicUrl, signal) }),
          ...(io.line && { pasted: (until: AbortSignal) => io.line!("", until) }),
          signal,
        });
    await tell(record, options, io);
  } catch (error) {
    if (late.aborted)
      throw new FailError(fail("timeout", `The browser did not return within ${patienceMs / 1000} s. Start again.`));
    throw error;
  } finally {
    await context.network.close();
  }
}

async function showAddress(address: string, options: Options, io: Io): Promise<void> {
  const isOpen = options.browser && (await openBrowser(address, io.env));
  if (options.json) return printJson(io.stderr, { open: address });
  const head = isOpen ? "The browser opens. If it does not, open this address:" : "Open this address in a browser:";
  const tail = io.line
    ? ["", "If the browser cannot come back to this machine, paste the address that it ends at here."]
    : [];
  await print(io.stderr, [head, "", address, ...tail].join("\n"));
}

async function showCode({ address, code }: DeviceShown, { json }: Options, io: Io): Promise<void> {
  if (json) return printJson(io.stderr, { open: address, code });
  await print(io.stderr, `Open this address in any browser, and give the code ${code} there:\n\n${address}`);
}

async function tell({ source, server, scopes }: SignInRecord, options: Options, io: Io): Promise<void> {
  if (options.json) return printJson(io.stdout, { signedIn: source, issuer: server.issuer, scopes });
  await print(io.stdout, `Signed in to ${source} by ${server.issuer}.`);
}
